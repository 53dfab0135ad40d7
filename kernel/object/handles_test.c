/* SPDX-License-Identifier: MIT
 *
 * Handle tables: cases, exhaustion, and random operations against a naive oracle that keeps a list
 * of all copies and, instead of views with generations, the whole way by which each copy was
 * derived.
 *
 * needs: kernel/object/handle.c kernel/object/quota.c kernel/object/slab.c kernel/mem/frame.c
 */
#include <base/check.h>
#include <base/test.h>
#include <hal/mmu.h>
#include <kernel/mem/frame.h>
#include <kernel/object/handle.h>

#define PAGES 300u
#define TABLES 3u
#define OBJECTS 10u
#define COPIES 4000u
#define RECORD 1280u

static unsigned char *memory;
static struct frames frames;
static struct slab slab;
static struct quota all;
static struct quota *quota[2];
static struct handles table[TABLES];
static struct object object[OBJECTS];
static unsigned dropped;	/* objects whose last name went */
static unsigned gone;		/* handles of which somebody who waits through them was told */

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
hal_shared_region(void *base, size_t len)
{
	(void)base;
	(void)len;
}

void
hal_shared_region_end(void *base, size_t len)
{
	(void)base;
	(void)len;
}

void
frame_freed(int32_t owner)
{
	expect_eq(owner, 0);
}

void
object_unreferenced(struct object *o)
{
	expect_eq(o->refs, 0);
	dropped++;
}

void
object_handle_gone(struct object *o)
{
	expect(o->refs > 0);
	gone++;
}

static enum object_type
type_of(unsigned n)
{
	return n % 2 ? OBJECT_THREAD : OBJECT_PROCESS;
}

/* Empty tables over fresh memory: 0 and 1 share an account. */
static void
begin(size_t limit)
{
	static struct frame entries[PAGES + HAL_LARGE_BYTES / HAL_PAGE_BYTES];
	static const struct boot_policy policy;

	if (memory == NULL)
		memory = aligned_alloc(HAL_LARGE_BYTES, HAL_LARGE_BYTES);
	memset(&frames, 0, sizeof(frames));
	frames_init(&frames, entries, memory, memory, memory + PAGES * HAL_PAGE_BYTES, &policy);
	slab_init(&slab, &frames, RECORD);
	quota_init(&all, &frames);
	all.limit[QUOTA_BYTES] = (size_t)-1;
	for (unsigned i = 0; i < 2; i++) {
		quota[i] = quota_new(&slab, &all);
		quota[i]->limit[QUOTA_BYTES] = limit;
	}
	for (unsigned i = 0; i < TABLES; i++)
		handles_init(&table[i], &slab, quota[i / 2]);
	for (unsigned i = 0; i < OBJECTS; i++)
		object_init(&object[i], type_of(i));
	dropped = 0;
}

/* Close what is left: nothing may stay behind. */
static void
end(void)
{
	for (unsigned i = 0; i < TABLES; i++)
		while (!handles_close_some(&table[i], 32))
			continue;
	for (unsigned i = 0; i < TABLES; i++)
		expect_eq(table[i].used, 0);
	for (unsigned i = 0; i < OBJECTS; i++)
		expect_eq(object[i].refs, 0);
	for (unsigned i = 0; i < 2; i++) {
		expect_eq(quota[i]->used[QUOTA_BYTES], 0);
		expect_eq(quota[i]->refs, 1);
		quota_put(&slab, quota[i]);
	}
	expect_eq(all.used[QUOTA_BYTES], 0);
	expect_eq(slab.pages, 0);
	expect_eq(frames.free, PAGES);
}

TEST(a_handle_names_its_object_and_nothing_else)
{
	int h;

	begin(1 << 20);
	expect_eq(quota[0]->used[QUOTA_BYTES], 0);
	h = (int)handle_new(&table[0], &object[0], RIGHT_READ | RIGHT_WAIT);
	expect(h > 0);
	expect_eq(quota[0]->used[QUOTA_BYTES], 256);
	expect(handle_get(&table[0], h, OBJECT_PROCESS, RIGHT_READ) == &object[0]);
	expect(handle_get(&table[0], h, OBJECT_PROCESS, 0) == &object[0]);
	expect(handle_get(&table[0], h, OBJECT_THREAD, RIGHT_READ) == NULL);
	expect_eq(handle_error(&table[0], h, OBJECT_THREAD), -E_BADF);
	expect(handle_get(&table[0], h, OBJECT_PROCESS, RIGHT_READ | RIGHT_END) == NULL);
	expect_eq(handle_error(&table[0], h, OBJECT_PROCESS), -E_ACCES);
	expect(handle_get(&table[1], h, OBJECT_PROCESS, RIGHT_READ) == NULL);
	expect_eq(handle_error(&table[1], h, OBJECT_PROCESS), -E_BADF);
	expect_eq(handle_close(&table[0], h), 0);
	expect_eq(dropped, 1);
	expect_eq(handle_close(&table[0], h), -E_BADF);
	expect_eq(handle_close(&table[2], 0), -E_BADF);
	end();
}

TEST(no_number_near_a_handle_is_one)
{
	int h;

	begin(1 << 20);
	h = (int)handle_new(&table[0], &object[0], RIGHTS_ALL);
	for (int bit = 0; bit < 32; bit++) {
		int other = (int)((uint32_t)h ^ 1u << bit);

		expect(handle_get(&table[0], other, OBJECT_PROCESS, 0) == NULL);
		expect_eq(handle_close(&table[0], other), -E_BADF);
	}
	for (int odd = -20; odd < 20; odd++)
		expect(handle_get(&table[0], odd, OBJECT_PROCESS, 0) == NULL);
	end();
}

/*
 * The generation of a place wraps: a handle is dead for as many uses of the place as there are
 * generations, and always positive.
 */
TEST(a_closed_handle_stays_dead_when_its_place_is_used_again)
{
	int first, old, uses = 0;

	begin(1 << 20);
	first = old = (int)handle_new(&table[0], &object[0], RIGHTS_ALL);
	expect_eq(handle_close(&table[0], first), 0);
	for (uint32_t i = 0; i < HANDLE_CHUNK * HANDLE_GENERATION_MAX - 1; i++) {
		int h = (int)handle_new(&table[0], &object[0], RIGHTS_ALL);

		if (h <= 0 || h == first || handle_get(&table[0], old, OBJECT_PROCESS, 0) != NULL)
			uses++;
		handle_close(&table[0], h);
		old = h;
	}
	expect_eq(uses, 0);
	expect_eq(handle_new(&table[0], &object[0], RIGHTS_ALL), first);
	end();
}

TEST(a_full_table_says_so_and_a_close_makes_room)
{
	static int h[HANDLES_MAX];

	begin(1 << 20);
	for (unsigned i = 0; i < HANDLES_MAX; i++)
		h[i] = (int)handle_new(&table[0], &object[i % OBJECTS], RIGHTS_ALL);
	for (unsigned i = 0; i < HANDLES_MAX; i++)
		expect(handle_get(&table[0], h[i], type_of(i % OBJECTS), RIGHT_END) ==
			&object[i % OBJECTS]);
	expect_eq(handle_new(&table[0], &object[0], RIGHTS_ALL), -E_MFILE);
	expect(handle_new(&table[1], &object[0], RIGHTS_ALL) > 0);
	expect_eq(handle_close(&table[0], h[2000]), 0);
	expect(handle_new(&table[0], &object[0], RIGHTS_ALL) > 0);
	expect_eq(handle_new(&table[0], &object[0], RIGHTS_ALL), -E_MFILE);
	end();
}

TEST(a_used_up_quota_stops_its_own_tree_only)
{
	unsigned made = 0;

	begin(2000);
	while (handle_new(&table[0], &object[0], RIGHTS_ALL) > 0)
		made++;
	expect_eq(made, 7 * HANDLE_CHUNK);
	expect_eq(handle_new(&table[0], &object[0], RIGHTS_ALL), -E_NOMEM);
	expect_eq(handle_new(&table[1], &object[0], RIGHTS_ALL), -E_NOMEM);
	expect(handle_new(&table[2], &object[0], RIGHTS_ALL) > 0);
	end();
}

TEST(used_up_memory_is_an_error_and_not_charged)
{
	unsigned made = 0;
	size_t before;

	begin(1 << 20);
	while (frames_alloc(&frames, 1, FRAME_KERNEL, 0) != FRAME_NONE)
		continue;
	before = quota[0]->used[QUOTA_BYTES];
	expect_eq(handle_new(&table[0], &object[0], RIGHTS_ALL), -E_NOMEM);
	expect_eq(quota[0]->used[QUOTA_BYTES], before);
	expect_eq(all.used[QUOTA_BYTES], 2 * slab_size(&slab, sizeof(struct quota)));
	/* while others find nothing, the cluster's own account has the reserve */
	frames_free(&frames, 1 + PAGES / 2, 1);
	table[0].quota = &all;
	while (handle_new(&table[0], &object[0], RIGHTS_ALL) > 0)
		made++;
	expect_eq(made, HANDLE_CHUNK);
	expect_eq(handle_new(&table[2], &object[0], RIGHTS_ALL), -E_NOMEM);
}

TEST(an_account_has_no_more_than_those_above_it)
{
	struct quota *low, *lower, *lowest;

	begin(10000);
	low = quota_new(&slab, quota[0]);
	lower = quota_new(&slab, low);
	lowest = quota_new(&slab, lower);
	expect(lower != NULL);
	expect(lowest == NULL);		/* too deep */
	low->limit[QUOTA_THREADS] = 5;
	lower->limit[QUOTA_THREADS] = 9;
	all.limit[QUOTA_THREADS] = 10;
	expect(quota_charge(lower, QUOTA_THREADS, 5));
	expect(!quota_charge(lower, QUOTA_THREADS, 1));
	expect(!quota_charge(low, QUOTA_THREADS, 1));
	expect(quota_charge(quota[0], QUOTA_THREADS, 3));
	expect(!quota_charge(quota[1], QUOTA_THREADS, 1));	/* what is left is the reserve */
	expect(quota_charge(&all, QUOTA_THREADS, 2));
	expect(!quota_charge(&all, QUOTA_THREADS, 1));
	low->limit[QUOTA_THREADS] = 0;				/* takes nothing away */
	quota_refund(lower, QUOTA_THREADS, 4);
	expect(!quota_charge(lower, QUOTA_THREADS, 1));
	quota_refund(lower, QUOTA_THREADS, 1);
	quota_refund(quota[0], QUOTA_THREADS, 3);
	quota_refund(&all, QUOTA_THREADS, 2);
	expect_eq(all.used[QUOTA_THREADS], 0);
	quota_put(&slab, low);
	quota_put(&slab, lower);
	end();
}

TEST(a_copy_has_no_more_rights_and_only_a_granted_one_goes_elsewhere)
{
	int h, copy, third;

	begin(1 << 20);
	h = (int)handle_new(&table[0], &object[0], RIGHT_READ | RIGHT_END | RIGHT_GRANT);
	copy = (int)handle_duplicate(&table[0], h, &table[2], RIGHT_READ | RIGHT_WAIT);
	expect(handle_get(&table[2], copy, OBJECT_PROCESS, RIGHT_READ) == &object[0]);
	expect_eq(handle_get(&table[2], copy, OBJECT_PROCESS, RIGHT_WAIT) != NULL, 0);
	expect_eq(handle_get(&table[2], copy, OBJECT_PROCESS, RIGHT_END) != NULL, 0);
	expect_eq(handle_duplicate(&table[2], copy, &table[1], RIGHTS_ALL), -E_ACCES);
	third = (int)handle_duplicate(&table[2], copy, &table[2], RIGHTS_ALL);
	expect(third > 0);
	expect_eq(handle_get(&table[2], third, OBJECT_PROCESS, RIGHT_END) != NULL, 0);
	expect_eq(handle_revoke(&table[0], h), -E_ACCES);
	end();
}

TEST(a_move_leaves_nothing_behind)
{
	int h, moved;

	begin(1 << 20);
	h = (int)handle_new(&table[0], &object[0], RIGHTS_ALL);
	moved = (int)handle_duplicate(&table[0], h, &table[1], RIGHTS_ALL | HANDLE_MOVE);
	expect(handle_get(&table[0], h, OBJECT_PROCESS, 0) == NULL);
	expect(handle_get(&table[1], moved, OBJECT_PROCESS, RIGHT_END) == &object[0]);
	expect_eq(object[0].refs, 1);
	expect_eq(handle_revoke(&table[1], moved), -E_INVAL);
	end();
}

TEST(who_waits_through_a_handle_is_told_when_it_is_gone)
{
	long h, v;

	begin(1 << 20);
	gone = 0;
	h = handle_new(&table[0], &object[0], RIGHTS_ALL);
	v = handle_duplicate(&table[0], (int)h, &table[0], RIGHTS_ALL | HANDLE_VIEW);
	expect_eq(gone, 0);
	expect_eq(handle_revoke(&table[0], (int)h), -E_INVAL);
	expect_eq(handle_revoke(&table[0], (int)v), 0);
	expect_eq(gone, 1);
	expect_eq(handle_close(&table[0], (int)v), 0);
	expect_eq(gone, 2);
	expect(handle_duplicate(&table[0], (int)h, &table[1], RIGHTS_ALL | HANDLE_MOVE) > 0);
	expect_eq(gone, 3);
	expect_eq(handle_close(&table[0], (int)h), -E_BADF);
	expect_eq(gone, 3);
	end();
}

TEST(revoking_a_view_kills_what_was_derived_and_nothing_else)
{
	int h, view, granted, below, after;

	begin(1 << 20);
	h = (int)handle_new(&table[0], &object[0], RIGHTS_ALL);
	view = (int)handle_duplicate(&table[0], h, &table[0], RIGHTS_ALL | HANDLE_VIEW);
	granted = (int)handle_duplicate(&table[0], view, &table[1], RIGHTS_ALL & ~RIGHT_REVOKE);
	below = (int)handle_duplicate(&table[1], granted, &table[2], RIGHTS_ALL | HANDLE_VIEW);
	expect(handle_get(&table[2], below, OBJECT_PROCESS, RIGHT_READ) == &object[0]);
	expect_eq(handle_revoke(&table[1], granted), -E_ACCES);
	expect_eq(handle_revoke(&table[0], view), 0);
	expect(handle_get(&table[1], granted, OBJECT_PROCESS, 0) == NULL);
	expect_eq(handle_error(&table[1], granted, OBJECT_PROCESS), -E_BADF);
	expect(handle_get(&table[2], below, OBJECT_PROCESS, 0) == NULL);
	expect_eq(handle_duplicate(&table[2], below, &table[2], RIGHTS_ALL), -E_BADF);
	expect(handle_get(&table[0], view, OBJECT_PROCESS, RIGHT_END) == &object[0]);
	expect(handle_get(&table[0], h, OBJECT_PROCESS, RIGHT_END) == &object[0]);
	after = (int)handle_duplicate(&table[0], view, &table[1], RIGHTS_ALL);
	expect(handle_get(&table[1], after, OBJECT_PROCESS, RIGHT_END) == &object[0]);
	end();
}

TEST(a_revoked_handle_stays_dead_when_the_generations_of_its_view_are_used_up)
{
	int h, view, granted, dead = 0;

	begin(1 << 20);
	h = (int)handle_new(&table[0], &object[0], RIGHTS_ALL);
	view = (int)handle_duplicate(&table[0], h, &table[0], RIGHTS_ALL | HANDLE_VIEW);
	granted = (int)handle_duplicate(&table[0], view, &table[1], RIGHTS_ALL);
	for (int i = 0; i < 3 * 65536; i++) {
		if (handle_revoke(&table[0], view) != 0 ||
			handle_get(&table[1], granted, OBJECT_PROCESS, 0) != NULL)
			dead++;
		if (handle_get(&table[0], view, OBJECT_PROCESS, 0) == NULL)
			dead++;
	}
	expect_eq(dead, 0);
	end();
}

TEST(views_below_each_other_are_few)
{
	int h, n = 0;

	begin(1 << 20);
	h = (int)handle_new(&table[0], &object[0], RIGHTS_ALL);
	for (;; n++) {
		long copy = handle_duplicate(&table[0], h, &table[0], RIGHTS_ALL | HANDLE_VIEW);

		if (copy < 0)
			break;
		h = (int)copy;
	}
	expect_eq(n, VIEW_DEPTH_MAX);
	expect_eq(handle_duplicate(&table[0], h, &table[0], RIGHTS_ALL | HANDLE_VIEW), -E_INVAL);
	end();
}

/* --- random operations --- */

struct copy {
	int handle;
	uint8_t used;
	uint8_t dead;
	uint8_t table;
	uint8_t object;
	uint8_t rights;
	uint8_t depth;
	uint16_t way[VIEW_DEPTH_MAX];	/* views that it was derived through */
};

static struct copy copies[COPIES];
static unsigned copies_made;
static uint16_t views_made;
static uint32_t random_state;

static unsigned
any(unsigned below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state % below;
}

static struct copy *
copy_add(unsigned t, long handle)
{
	struct copy *c = &copies[copies_made++];

	memset(c, 0, sizeof(*c));
	c->handle = (int)handle;
	c->used = 1;
	c->table = (uint8_t)t;
	return c;
}

static void
random_new(void)
{
	unsigned t = any(TABLES), o = any(OBJECTS), rights = any(128);
	long h = handle_new(&table[t], &object[o], rights);
	struct copy *c;

	expect(h > 0);
	c = copy_add(t, h);
	c->object = (uint8_t)o;
	c->rights = (uint8_t)rights;
}

static void
random_duplicate(struct copy *c)
{
	unsigned t = any(TABLES), rights = any(128),
		flags = (any(4) == 0 ? HANDLE_VIEW : 0) | (any(5) == 0 ? HANDLE_MOVE : 0);
	long h = handle_duplicate(&table[c->table], c->handle, &table[t], rights | flags);
	struct copy *n;

	if (!c->used || c->dead) {
		expect_eq(h, -E_BADF);
		return;
	}
	if (t != c->table && !(c->rights & RIGHT_GRANT)) {
		expect_eq(h, -E_ACCES);
		return;
	}
	if ((flags & HANDLE_VIEW) && c->depth == VIEW_DEPTH_MAX) {
		expect_eq(h, -E_INVAL);
		return;
	}
	expect(h > 0);
	n = copy_add(t, h);
	n->object = c->object;
	n->rights = (uint8_t)(c->rights & rights);
	n->depth = c->depth;
	memcpy(n->way, c->way, sizeof(n->way));
	if (flags & HANDLE_VIEW)
		n->way[n->depth++] = ++views_made;
	if (flags & HANDLE_MOVE)
		c->used = 0;
}

static bool
came_through(const struct copy *c, uint16_t view)
{
	for (unsigned i = 0; i < c->depth; i++)
		if (c->way[i] == view)
			return true;
	return false;
}

static void
random_revoke(struct copy *c)
{
	long e = handle_revoke(&table[c->table], c->handle);

	if (!c->used || c->dead) {
		expect_eq(e, -E_BADF);
	} else if (!(c->rights & RIGHT_REVOKE)) {
		expect_eq(e, -E_ACCES);
	} else if (c->depth == 0) {
		expect_eq(e, -E_INVAL);
	} else {
		expect_eq(e, 0);
		for (unsigned i = 0; i < copies_made; i++)
			if (&copies[i] != c && came_through(&copies[i], c->way[c->depth - 1]))
				copies[i].dead = 1;
	}
}

static void
random_close(struct copy *c)
{
	expect_eq(handle_close(&table[c->table], c->handle), c->used ? 0 : -E_BADF);
	c->used = 0;
}

static void
look_at(const struct copy *c)
{
	unsigned rights = any(128);
	enum object_type type = any(8) ? type_of(c->object) : OBJECT_NOTIFICATION;
	struct object *o = handle_get_far(&table[c->table], c->handle,
		(unsigned)type | rights << KIND_RIGHTS_SHIFT);
	struct object *near = handle_get(&table[c->table], c->handle, type, rights);

	expect(o == near);
	if (!c->used || c->dead || type != type_of(c->object)) {
		expect(o == NULL);
		expect_eq(handle_error(&table[c->table], c->handle, type), -E_BADF);
	} else if (rights & ~c->rights) {
		expect(o == NULL);
		expect_eq(handle_error(&table[c->table], c->handle, type), -E_ACCES);
	} else {
		expect(o == &object[c->object]);
	}
}

static void
random_step(void)
{
	struct copy *c = copies_made > 0 ? &copies[any(copies_made)] : NULL;

	switch (c == NULL ? 0 : any(12)) {
	case 0:
	case 1:
		random_new();
		break;
	case 2:
	case 3:
	case 4:
		random_duplicate(c);
		break;
	case 5:
		random_revoke(c);
		break;
	case 6:
	case 7:
		random_close(c);
		break;
	default:
		look_at(c);
	}
}

static void
random_run(uint32_t seed)
{
	random_state = seed;
	copies_made = 0;
	views_made = 0;
	begin(1 << 20);
	for (int i = 0; i < 6000 && test_state.wrong == 0 && copies_made + 1 < COPIES; i++)
		random_step();
	for (unsigned i = 0; i < copies_made; i++)
		look_at(&copies[i]);
	end();
	if (test_state.wrong != 0)
		printf("seed %u\n", (unsigned)seed);
}

TEST(random_operations_agree_with_the_oracle)
{
	const char *given = getenv("SEED");

	if (given != NULL)
		random_run((uint32_t)strtoul(given, NULL, 0));
	for (uint32_t seed = 1; given == NULL && seed <= 60 && test_state.wrong == 0; seed++)
		random_run(seed * 2654435761u);
}

int
main(void)
{
	RUN(a_handle_names_its_object_and_nothing_else);
	RUN(no_number_near_a_handle_is_one);
	RUN(a_closed_handle_stays_dead_when_its_place_is_used_again);
	RUN(a_full_table_says_so_and_a_close_makes_room);
	RUN(a_used_up_quota_stops_its_own_tree_only);
	RUN(used_up_memory_is_an_error_and_not_charged);
	RUN(an_account_has_no_more_than_those_above_it);
	RUN(a_copy_has_no_more_rights_and_only_a_granted_one_goes_elsewhere);
	RUN(a_move_leaves_nothing_behind);
	RUN(who_waits_through_a_handle_is_told_when_it_is_gone);
	RUN(revoking_a_view_kills_what_was_derived_and_nothing_else);
	RUN(a_revoked_handle_stays_dead_when_the_generations_of_its_view_are_used_up);
	RUN(views_below_each_other_are_few);
	RUN(random_operations_agree_with_the_oracle);
	return TEST_FAILED;
}
