/* SPDX-License-Identifier: MIT
 *
 * Page frames against a naive map of which frames are out.
 *
 * needs: kernel/mem/frame.c
 */
#include <base/check.h>
#include <base/test.h>
#include <abi/limits.abi.h>
#include <hal/mmu.h>
#include <kernel/mem/frame.h>
#include <kernel/mem/sweep.h>

#define PAGES 1500u

static unsigned char *memory;
static struct frames f;
static struct sweeps all;
static unsigned char out[PAGES * 2];	/* handed out, by frame */

void
check_failed(const char *file, int line, const char *what)
{
	printf("%s:%d: %s\n", file, line, what);
	abort();
}

uint64_t
hal_paddr(const void *kernel)
{
	return (uint64_t)(uintptr_t)kernel;
}

void
hal_zero_pages(void *kernel, size_t bytes)
{
	memset(kernel, 0, bytes);
}

void
frame_freed(int32_t owner)
{
	expect(owner != 0);
}

/* A fresh allocator over memory that starts in the middle of a large page. */
static void
begin(void)
{
	static struct frame table[PAGES * 2];
	unsigned char *start;

	if (memory == NULL)
		memory = aligned_alloc(HAL_LARGE_BYTES, 3 * HAL_LARGE_BYTES);
	start = memory + 77 * HAL_PAGE_BYTES;
	memset(table, 0xa5, sizeof(table));
	memset(out, 0, sizeof(out));
	expect(frames_table_bytes(start, (PAGES - 77) * HAL_PAGE_BYTES) <= sizeof(table));
	memset(&f, 0, sizeof(f));
	all = (struct sweeps){.epoch = UINT32_MAX - 2};
	list_init(&all.running);
	frames_init(&f, table, start, memory + PAGES * HAL_PAGE_BYTES);
	expect_eq(f.free, PAGES - 77);
}

static void
mark(uint32_t first, uint32_t count, unsigned char value)
{
	for (uint32_t i = first; i < first + count; i++) {
		expect_eq(out[i], !value);
		out[i] = value;
	}
}

TEST(frames_are_handed_out_once_aligned_and_zeroed)
{
	begin();
	for (uint32_t count = 1; count < 200; count = count * 2 + 1) {
		uint32_t first = frames_alloc(&f, count, FRAME_USER, 5);
		uint32_t align = 1;

		while (align < count)
			align *= 2;
		expect(first != FRAME_NONE && first % align == 0);
		expect_eq((uintptr_t)frame_kaddr(&f, first) % (align * HAL_PAGE_BYTES), 0);
		mark(first, count, 1);
		for (size_t i = 0; i < count * HAL_PAGE_BYTES; i += 512)
			expect_eq(((unsigned char *)frame_kaddr(&f, first))[i], 0);
		memset(frame_kaddr(&f, first), 0xff, count * HAL_PAGE_BYTES);
		expect_eq(frame_at(&f, frame_paddr(&f, first) + 17), first);
		expect(f.frame[first].state == FRAME_USER && first < f.fresh);
	}
}

TEST(all_memory_can_be_had_and_comes_back_whole)
{
	uint32_t n = 0;

	begin();
	while (frames_alloc(&f, 1, FRAME_USER, 1) != FRAME_NONE)
		n++;
	expect_eq(n, PAGES - 77);
	expect_eq(f.free, 0);
	for (uint32_t i = f.first; i < f.total; i++)
		frames_free(&f, i, 1);
	expect_eq(f.free, PAGES - 77);
	/* merged again: a run of two large pages is there, one of three is not */
	expect(frames_alloc(&f, 2 * 512, FRAME_USER, 1) != FRAME_NONE ||
		frames_alloc(&f, 512, FRAME_USER, 1) != FRAME_NONE);
	expect_eq(frames_alloc(&f, PAGES, FRAME_USER, 1), FRAME_NONE);
	expect_eq(frames_alloc(&f, 0, FRAME_USER, 1), FRAME_NONE);
}

TEST(a_run_at_the_end_is_taken_though_its_power_of_two_does_not_fit)
{
	uint32_t first;

	begin();
	first = frames_alloc(&f, 1000, FRAME_USER, 1);
	expect(first == FRAME_NONE || first + 1000 <= f.total);
	first = frames_alloc(&f, PAGES - 1024, FRAME_USER, 1);
	expect(first != FRAME_NONE && first + (PAGES - 1024) <= f.total);
}

TEST(a_frame_lives_until_its_last_reference)
{
	uint32_t a, before;

	begin();
	before = f.free;
	a = frames_alloc(&f, 1, FRAME_USER, 1);
	frame_get(&f, a);
	frame_get(&f, a);
	frame_put(&f, a, &all, NULL);
	expect_eq(f.frame[a].state, FRAME_USER);
	frame_put(&f, a, &all, NULL);
	expect_eq(f.frame[a].state, FRAME_INSIDE);
	expect_eq(frames_alloc(&f, 1, FRAME_USER, 1), a);	/* the one that was freed last */
	frames_free(&f, a, 1);
	expect_eq(f.free, before);
}

/* --- shoot-downs, as far as frames know them --- */

static struct sweep *
sweep_started(struct sweep *s)
{
	if (++all.epoch == 0)		/* which is no number */
		all.epoch = 1;
	s->epoch = all.epoch;
	s->limbo = FRAME_NONE;
	list_push_back(&all.running, &s->link);
	return s;
}

/* In steps, as home does it. */
static void
sweep_over(struct sweep *s)
{
	unsigned most = 2;

	while (!frames_limbo_drain(&f, &all, s, &most)) {
		expect_eq(most, 0);
		most = 2;
	}
	list_remove(&s->link);
}

/* All memory as frames with that many references each. */
static void
take_all(unsigned refs)
{
	begin();
	for (uint32_t i; (i = frames_alloc(&f, 1, FRAME_USER, 1)) != FRAME_NONE;)
		for (unsigned n = 0; n < refs; n++)
			frame_get(&f, i);
	expect_eq(f.free, 0);
}

static void
put_all(struct sweep *by)
{
	for (uint32_t i = f.first; i < f.total; i++)
		frame_put(&f, i, &all, by);
}

/* One more and one less of many, as one at a time; what may not be more than it is ends it. */
TEST(references_of_many_frames_count_like_those_of_each)
{
	uint64_t at[8];
	uint32_t first, free;
	int most;

	begin();
	first = frames_alloc(&f, 8, FRAME_USER, 5);
	free = f.free;
	for (uint32_t i = 0; i < 8; i++)
		at[i] = frame_paddr(&f, first + 7 - i);
	expect_eq(frames_get(&f, at, 8), 8);
	expect_eq(frames_get(&f, at, 3), 3);
	for (uint32_t i = 0; i < 8; i++)
		expect_eq(f.frame[first + 7 - i].refs, i < 3 ? 2 : 1);
	f.frame[first + 5].refs = FRAME_REFS_MAX;
	expect_eq(frames_get(&f, at, 8), 2);
	f.frame[first + 5].refs = 2;
	at[3] = f.base_paddr - HAL_PAGE_BYTES;
	expect_eq(frames_get(&f, at, 8), 3);
	/* three that others have, one that is none of ours, and one that is free then */
	most = 3 + FRAMES_PUT_FREE + 1;
	expect_eq(frames_put(&f, &all, at, 8, &most), 5);
	expect(most <= 0);
	expect_eq(f.free, free + 1);
	expect_eq(f.frame[first + 7].refs, 3);
	expect_eq(f.frame[first + 4].refs, 1);
	most = 100;
	expect_eq(frames_put(&f, &all, at, 3, &most), 3);
	expect_eq(most, 97);
	expect_eq(f.frame[first + 5].refs, 1);
}

TEST(limbo_keeps_frames_until_their_shoot_down_has_ended)
{
	static struct sweep mine;

	take_all(1);
	put_all(sweep_started(&mine));
	expect_eq(f.free, 0);
	expect_eq(f.frame[f.first].state, FRAME_LIMBO);
	sweep_over(&mine);
	expect_eq(f.free, PAGES - 77);
}

TEST(the_shoot_down_of_others_delays_no_frame)
{
	static struct sweep older, mine, younger;

	take_all(1);
	sweep_started(&older);
	sweep_started(&mine);
	sweep_started(&younger);
	put_all(&mine);
	sweep_over(&mine);
	expect_eq(f.free, PAGES - 77);
	/* nor of what was never mapped */
	take_all(1);
	sweep_started(&older);
	put_all(NULL);
	expect_eq(f.free, PAGES - 77);
}

/* Mapped twice, and named besides: in whatever order all of these go, and the shoot-downs end. */
TEST(a_frame_of_many_mappings_waits_for_all_their_shoot_downs)
{
	static struct sweep one, other;

	for (unsigned way = 0; way < 16; way++) {
		struct sweep *first = way & 1 ? &one : &other, *last = way & 1 ? &other : &one;

		take_all(way & 8 ? 3 : 2);
		sweep_started(&one);
		sweep_started(&other);
		put_all(way & 2 ? &one : &other);
		put_all(way & 2 ? &other : &one);
		if (way & 8)
			put_all(NULL);
		if (way & 4)
			sweep_over(first);
		expect_eq(f.free, 0);
		if (!(way & 4))
			sweep_over(first);
		expect_eq(f.free, 0);
		sweep_over(last);
		expect_eq(f.free, PAGES - 77);
	}
}

TEST(an_earlier_shoot_down_that_has_ended_delays_no_frame)
{
	static struct sweep stale, earlier, mine, later;

	take_all(2);
	sweep_started(&stale);
	sweep_started(&earlier);
	put_all(&earlier);
	sweep_over(&earlier);
	sweep_over(&stale);
	sweep_started(&later);
	sweep_started(&mine);
	put_all(&mine);
	sweep_over(&mine);
	expect_eq(f.free, PAGES - 77);
}

struct run {
	uint32_t first, count;
};

TEST(random_use_never_hands_out_a_frame_twice)
{
	static struct run runs[200];
	unsigned n = 0;

	begin();
	srand(1);
	for (int step = 0; step < 20000; step++) {
		if (n < 200 && rand() % 2) {
			uint32_t count = 1 + (uint32_t)rand() % (rand() % 8 ? 9 : 90);
			uint32_t first = frames_alloc(&f, count, FRAME_USER, 1);

			if (first == FRAME_NONE)
				continue;
			mark(first, count, 1);
			runs[n++] = (struct run){first, count};
		} else if (n > 0) {
			unsigned i = (unsigned)rand() % n;
			uint32_t part = 1 + (uint32_t)rand() % runs[i].count;

			mark(runs[i].first, part, 0);
			frames_free(&f, runs[i].first, part);
			runs[i].first += part;
			runs[i].count -= part;
			if (runs[i].count == 0)
				runs[i] = runs[--n];
		}
	}
	for (unsigned i = 0; i < n; i++)
		frames_free(&f, runs[i].first, runs[i].count);
	expect_eq(f.free, PAGES - 77);
}

int
main(void)
{
	RUN(frames_are_handed_out_once_aligned_and_zeroed);
	RUN(all_memory_can_be_had_and_comes_back_whole);
	RUN(a_run_at_the_end_is_taken_though_its_power_of_two_does_not_fit);
	RUN(a_frame_lives_until_its_last_reference);
	RUN(references_of_many_frames_count_like_those_of_each);
	RUN(limbo_keeps_frames_until_their_shoot_down_has_ended);
	RUN(the_shoot_down_of_others_delays_no_frame);
	RUN(a_frame_of_many_mappings_waits_for_all_their_shoot_downs);
	RUN(an_earlier_shoot_down_that_has_ended_delays_no_frame);
	RUN(random_use_never_hands_out_a_frame_twice);
	free(memory);
	return TEST_FAILED;
}
