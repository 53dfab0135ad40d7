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
#define FIRST 77u		/* the memory starts in the middle of a large page */

static unsigned char *memory;
static struct frames f;
static struct sweeps all;
static unsigned char out[PAGES * 2];	/* handed out, by frame */

void
check_failed(const char *file, int line)
{
	printf("%s:%d: a check has failed\n", file, line);
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

static const struct boot_policy one;

static uint32_t
domains(void)
{
	return f.policy->last_domain + 1;
}

static void
begin_with(const struct boot_policy *policy)
{
	static struct frame table[PAGES * 2];
	unsigned char *start;

	if (memory == NULL)
		memory = aligned_alloc(HAL_LARGE_BYTES, 3 * HAL_LARGE_BYTES);
	start = memory + FIRST * HAL_PAGE_BYTES;
	memset(table, 0xa5, sizeof(table));
	memset(out, 0, sizeof(out));
	expect(frames_table_bytes(start, (PAGES - FIRST) * HAL_PAGE_BYTES, policy) <=
		sizeof(table));
	memset(&f, 0, sizeof(f));
	all = (struct sweeps){.epoch = UINT32_MAX - 2};
	list_init(&all.running);
	frames_init(&f, table, start, start, memory + PAGES * HAL_PAGE_BYTES, policy);
	expect_eq(f.free, PAGES - FIRST);
}

/* A new allocator; its table holds what was in memory. */
static void
begin(void)
{
	begin_with(&one);
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
		expect_eq(f.frame[first].state, FRAME_USER);
	}
}

TEST(all_memory_can_be_had_and_comes_back_whole)
{
	uint32_t n = 0;

	begin();
	while (frames_alloc(&f, 1, FRAME_USER, 1) != FRAME_NONE)
		n++;
	expect_eq(n, PAGES - FIRST);
	expect_eq(f.free, 0);
	for (uint32_t i = f.first; i < f.total; i++)
		frames_free(&f, i, 1);
	expect_eq(f.free, PAGES - FIRST);
	/* merged again: a run of two large pages is there, one of three is not */
	expect(frames_alloc(&f, 2 * 512, FRAME_USER, 1) != FRAME_NONE ||
		frames_alloc(&f, 512, FRAME_USER, 1) != FRAME_NONE);
	expect_eq(frames_alloc(&f, PAGES, FRAME_USER, 1), FRAME_NONE);
	expect_eq(frames_alloc(&f, 0, FRAME_USER, 1), FRAME_NONE);
}

TEST(what_a_block_has_more_than_is_needed_stays_free)
{
	uint32_t first;

	begin();
	first = frames_alloc(&f, 300, FRAME_USER, 1);
	expect_eq(first, 512);
	expect_eq(frames_alloc(&f, 128, FRAME_USER, 1) % 128, 0);
	for (uint32_t i = first + 300; i < 1024; i++)
		expect(f.frame[i].state != FRAME_USER || i >= 896);
	frames_free(&f, first, 300);
	expect_eq(frames_alloc(&f, 256, FRAME_USER, 1) % 256, 0);
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
	expect_eq(frames_get(&f, at, 8, UINT64_MAX), 8);
	expect_eq(frames_get(&f, at, 3, UINT64_MAX), 3);
	for (uint32_t i = 0; i < 8; i++)
		expect_eq(f.frame[first + 7 - i].refs, i < 3 ? 2 : 1);
	f.frame[first + 5].refs = FRAME_REFS_MAX;
	expect_eq(frames_get(&f, at, 8, UINT64_MAX), 2);
	f.frame[first + 5].refs = 2;
	at[3] = f.base_paddr - HAL_PAGE_BYTES;
	expect_eq(frames_get(&f, at, 8, UINT64_MAX), 3);
	expect_eq(frames_get(&f, at, 8, at[0]), 0);
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
	expect_eq(f.free, PAGES - FIRST);
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
	expect_eq(f.free, PAGES - FIRST);
	/* nor of what was never mapped */
	take_all(1);
	sweep_started(&older);
	put_all(NULL);
	expect_eq(f.free, PAGES - FIRST);
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
		expect_eq(f.free, PAGES - FIRST);
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
	expect_eq(f.free, PAGES - FIRST);
}

/* --- at random, against a naive map of which frames are out --- */

#define RUNS 200u
#define SEEDS 40u

/* Some are taken and marked, others are taken alone, and of these a part may be marked. */
struct run {
	uint32_t first, marked, count;
};

static struct run runs[RUNS];
static unsigned runs_used;

static uint32_t
pick(uint32_t n)
{
	return (uint32_t)rand() % n;
}

/* The largest aligned block that is free, from the map. */
static uint32_t
largest_free(uint32_t first, uint32_t end)
{
	uint32_t largest = 0;

	for (uint32_t size = 1; size <= end; size *= 2)
		for (uint32_t at = (first + size - 1) & ~(size - 1); at + size <= end; at += size) {
			uint32_t n = 0;

			while (n < size && !out[at + n])
				n++;
			if (n == size)
				largest = size;
		}
	return largest;
}

static uint32_t
power_of_two(uint32_t count)
{
	uint32_t size = 1;

	while (size < count)
		size *= 2;
	return size;
}

/* In which of its domains a frame must be that somebody of a domain gets, by what is free. */
static void
expect_in_first_choice(uint32_t domain, uint32_t first, uint32_t count)
{
	const uint8_t *order = &f.policy->page_order[domain * DOMAINS_MAX];

	for (uint32_t n = 0; n < domains(); n++) {
		const struct frame_domain *d = &f.domain[order[n]];

		if (first != FRAME_NONE && first >= d->first && first < d->end) {
			expect(first + count <= d->end);
			return;
		}
		expect(largest_free(d->first, d->end) < power_of_two(count));
	}
	expect_eq(first, FRAME_NONE);
}

static void
take_one(void)
{
	uint32_t count = 1 + pick(pick(8) ? 9 : 200), domain = pick(domains()), first;

	first = frames_block(&f, domain, count);
	if (!(f.policy->flags & POLICY_PAGES_TAKE_TURNS))
		expect_in_first_choice(domain, first, count);
	if (first == FRAME_NONE)
		return;
	mark(first, count, 1);
	expect_eq(first % power_of_two(count), 0);
	runs[runs_used++] = (struct run){first, 0, count};
}

/* As much of it as a step marks, which is aligned. */
static void
mark_some(struct run *r)
{
	uint32_t n = r->count - r->marked < 8 ? r->count - r->marked : 8;

	frames_mark(&f, r->first + r->marked, n, (struct frame){.state = FRAME_USER, .owner = 1});
	r->marked += n;
	if (r->marked < r->count)
		frames_mark_next(&f, r->first + r->marked);
}

/* Marked ones go one by one or together, in any order, the rest at once, before or behind them. */
static void
free_one(struct run *r)
{
	bool rest_first = pick(2), together = pick(2);

	if (rest_first && r->count > r->marked)
		frames_block_back(&f, r->first + r->marked, r->count - r->marked);
	if (together && r->marked > 0)
		frames_free(&f, r->first, r->marked);
	for (uint32_t n = 0; !together && n < r->marked; n++)
		frames_free(&f, r->first + (r->count % 2 ? n : r->marked - 1 - n), 1);
	if (!rest_first && r->count > r->marked)
		frames_block_back(&f, r->first + r->marked, r->count - r->marked);
	mark(r->first, r->count, 0);
	*r = runs[--runs_used];
}

static void
expect_counts(void)
{
	uint32_t all = 0;

	for (uint32_t n = 0; n < domains(); n++) {
		const struct frame_domain *d = &f.domain[n];
		uint32_t free = 0;

		for (uint32_t i = d->first; i < d->end; i++)
			free += !out[i];
		expect_eq(d->stat[DOMAIN_FREE], free);
		all += free;
	}
	expect_eq(f.free, all);
}

/* Memory is filled and emptied in turn; at the end all of it is in one block per domain again. */
static void
use_at_random(unsigned seed, const struct boot_policy *policy)
{
	uint32_t largest[DOMAINS_MAX];

	begin_with(policy);
	srand(seed);
	for (uint32_t n = 0; n < domains(); n++)
		largest[n] = largest_free(f.domain[n].first, f.domain[n].end);
	for (unsigned step = 0; step < 1500; step++) {
		unsigned what = pick(8), more = step / 250 % 2 ? 2 : 4;

		if (what < more && runs_used < RUNS)
			take_one();
		else if (runs_used > 0 && what < 6)
			mark_some(&runs[pick(runs_used)]);
		else if (runs_used > 0)
			free_one(&runs[pick(runs_used)]);
		if (step % 50 == 0)
			expect_counts();
	}
	while (runs_used > 0)
		free_one(&runs[0]);
	expect_counts();
	for (uint32_t n = 0; n < domains(); n++)
		expect_eq(largest[n], largest_free(f.domain[n].first, f.domain[n].end));
	for (uint32_t n = 0; n < domains(); n++)
		expect(frames_block(&f, n, largest[n]) != FRAME_NONE);
}

static const struct boot_policy three = {.last_domain = 2, .pages = 490,
	.page_order = {0, 1, 2, [DOMAINS_MAX] = 1, 2, 0, [2 * DOMAINS_MAX] = 2, 0, 1}};

TEST(random_use_agrees_with_a_map)
{
	for (unsigned seed = 1; seed <= SEEDS; seed++)
		use_at_random(seed, &one);
}

TEST(random_use_of_domains_agrees_with_a_map)
{
	struct boot_policy turns = three;

	turns.flags = POLICY_PAGES_TAKE_TURNS;
	for (unsigned seed = 1; seed <= SEEDS; seed++)
		use_at_random(seed, seed % 4 == 0 ? &turns : &three);
}

TEST(domains_are_used_in_their_order)
{
	uint32_t seen[3] = {0};

	begin_with(&three);
	expect_eq(f.domain[2].end, PAGES);
	expect_eq(f.domain[1].first, PAGES - 2 * 490);
	expect_eq(f.domain[0].first, FIRST);
	while (f.domain[1].stat[DOMAIN_FREE] > 0)
		expect(frames_block(&f, 1, 1) >= f.domain[1].first);
	expect_eq(f.domain[1].stat[DOMAIN_NEAR], 490);
	expect(frames_block(&f, 1, 1) >= f.domain[2].first);
	expect_eq(f.domain[2].stat[DOMAIN_FAR], 1);
	while (frames_block(&f, 0, 1) != FRAME_NONE)
		continue;
	expect_eq(f.free, 0);
	expect_eq(f.domain[0].stat[DOMAIN_NEAR], PAGES - 2 * 490 - FIRST);
	/* in turn */
	{
		struct boot_policy turns = three;

		turns.flags = POLICY_PAGES_TAKE_TURNS;
		begin_with(&turns);
		for (int n = 0; n < 30; n++) {
			uint32_t i = frames_block(&f, 0, 1), d = 0;

			while (i >= f.domain[d].end)
				d++;
			seen[d]++;
		}
		expect_eq(seen[0], 10);
		expect_eq(seen[1], 10);
	}
}

/* What of a block is not marked yet is no free buddy, whatever its entries hold from before. */
TEST(frames_beside_what_is_not_marked_yet_are_not_joined_with_it)
{
	uint32_t first;

	begin();
	for (uint32_t i = 513; i < 520; i++)
		f.frame[i] = (struct frame){.state = FRAME_FREE, .order = i == 516 ? 2 : 0};
	first = frames_block(&f, 0, 512);
	expect_eq(first, 512);
	frames_mark(&f, first, 4, (struct frame){.state = FRAME_USER, .owner = 1});
	frames_mark_next(&f, first + 4);
	frames_free(&f, first, 4);
	expect_eq(frames_block(&f, 0, 512), FRAME_NONE);
	frames_block_back(&f, first + 4, 508);
	expect_eq(frames_block(&f, 0, 512), first);
}

/* The frames begin in the large page in which the memory begins, or in the next. */
/* The last one of those that are ready comes first; as parts of others they are as good. */
TEST(frames_that_hold_zeros_are_free_like_others)
{
	uint32_t ready[9], n;

	begin_with(&one);
	expect_eq(frames_zeroed_take(&f), FRAME_NONE);
	for (n = 0; n < 9; n++)
		ready[n] = frames_take(&f, 1, FRAME_INSIDE, 0);
	for (n = 0; n < 9; n++)
		frames_zeroed_put(&f, ready[n]);
	expect_eq(f.free, PAGES - FIRST);
	expect_eq(f.domain->stat[DOMAIN_FREE], PAGES - FIRST);
	expect_eq(f.zeroed_count, 9);
	expect_eq(frames_zeroed_take(&f), ready[8]);
	expect_eq(f.free, PAGES - FIRST - 1);
	frames_block_back(&f, ready[8], 1);
	for (n = 0; frames_alloc(&f, 1, FRAME_KERNEL, 0) != FRAME_NONE; n++)
		continue;
	expect_eq(n, PAGES - FIRST);
	expect_eq(f.zeroed_count, 0);
	expect_eq(frames_zeroed_take(&f), FRAME_NONE);
	frames_free(&f, f.first, n);
	expect_eq(f.free, PAGES - FIRST);
	/* and a block that they were missing in is whole again */
	for (n = 0; n < 9; n++)
		ready[n] = frames_take(&f, 1, FRAME_INSIDE, 0);
	for (n = 0; n < 9; n++)
		frames_zeroed_put(&f, ready[n]);
	expect(frames_alloc(&f, HAL_LARGE_BYTES / HAL_PAGE_BYTES, FRAME_KERNEL, 0) != FRAME_NONE);
}

TEST(the_table_has_room_wherever_its_memory_begins)
{
	static const uint32_t at[] = {0, 3, 77, 508, 511}, behind[] = {0, 1, 6, 40};
	unsigned char *end = memory + PAGES * HAL_PAGE_BYTES;

	for (unsigned i = 0; i < 20; i++) {
		unsigned char *from = memory + at[i / 4] * HAL_PAGE_BYTES + HAL_PAGE_BYTES / 2;
		unsigned char *start = memory + (at[i / 4] + 1 + behind[i % 4]) * HAL_PAGE_BYTES;
		size_t bytes = frames_table_bytes(from, (size_t)(end - from), &one);
		void *table = malloc(bytes);
		uint32_t n = 0;

		memset(table, 0xa5, bytes);
		memset(&f, 0, sizeof(f));
		frames_init(&f, table, from, start, end, &one);
		while (frames_alloc(&f, 1, FRAME_KERNEL, 0) != FRAME_NONE)
			n++;
		expect_eq(n, (size_t)(end - start) / HAL_PAGE_BYTES);
		for (uint32_t frame = f.first; frame < f.total; frame++)
			frames_free(&f, frame, 1);
		expect_eq(f.free, n);
		free(table);
	}
}

int
main(void)
{
	RUN(frames_are_handed_out_once_aligned_and_zeroed);
	RUN(all_memory_can_be_had_and_comes_back_whole);
	RUN(what_a_block_has_more_than_is_needed_stays_free);
	RUN(a_frame_lives_until_its_last_reference);
	RUN(references_of_many_frames_count_like_those_of_each);
	RUN(limbo_keeps_frames_until_their_shoot_down_has_ended);
	RUN(the_shoot_down_of_others_delays_no_frame);
	RUN(a_frame_of_many_mappings_waits_for_all_their_shoot_downs);
	RUN(an_earlier_shoot_down_that_has_ended_delays_no_frame);
	RUN(random_use_agrees_with_a_map);
	RUN(random_use_of_domains_agrees_with_a_map);
	RUN(domains_are_used_in_their_order);
	RUN(frames_beside_what_is_not_marked_yet_are_not_joined_with_it);
	RUN(frames_that_hold_zeros_are_free_like_others);
	RUN(the_table_has_room_wherever_its_memory_begins);
	free(memory);
	return TEST_FAILED;
}
