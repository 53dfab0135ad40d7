/* SPDX-License-Identifier: MIT
 *
 * HAL contract: what cores may see of each other's stores, as litmus programs. Each program has a
 * role per core; the roles go from cell to cell together, a few rounds long; then core 0 looks for
 * a cell where they saw together what the contract forbids. A round writes its number, so that
 * nothing needs to be cleared.
 */
#include "testbed.h"

#define ROLES_MAX 4
#define WRITING 0x80000000u
#define SAW_BITS 4			/* of a result; the round is above */
/*
 * Looks for the others before a cell, and before the first, to which they have to wake up. Meeting
 * only makes rare things likelier.
 */
#define PATIENCE 200
#define FIRST_PATIENCE 20000

/* A cell's words, and what a role saw: bits, meaningful to the program alone. */
typedef uint32_t role_fn(struct litmus *l, unsigned cell, uint32_t round);

struct program {
	role_fn *role[ROLES_MAX];		/* NULL: no more */
	bool (*is_wrong)(const uint32_t *saw);	/* what each role saw */
};

static bool
is(volatile uint32_t *word, uint32_t round)
{
	return hal_load32(word) == round;
}

/* --- message passing --- */

static uint32_t
store_both(struct litmus *l, unsigned cell, uint32_t round)
{
	hal_store32(&l->x[cell], round);
	hal_store32(&l->y[cell], round);
	return 0;
}

static uint32_t
load_y_then_x(struct litmus *l, unsigned cell, uint32_t round)
{
	uint32_t y = is(&l->y[cell], round);

	return y | (uint32_t)is(&l->x[cell], round) << 1;
}

static uint32_t
load_x_then_y(struct litmus *l, unsigned cell, uint32_t round)
{
	uint32_t x = is(&l->x[cell], round);

	return x | (uint32_t)is(&l->y[cell], round) << 1;
}

/* The later one without the earlier one. */
static bool
second_saw_one_alone(const uint32_t *saw)
{
	return saw[1] == 1;
}

static uint32_t
publish_then_store(struct litmus *l, unsigned cell, uint32_t round)
{
	l->data[cell] = round;
	hal_publish(&l->data[cell], sizeof(l->data[cell]));
	hal_store32(&l->x[cell], round);
	return 0;
}

/* Role 0 alone changes x here. */
static uint32_t
publish_then_add(struct litmus *l, unsigned cell, uint32_t round)
{
	l->data[cell] = round;
	hal_publish(&l->data[cell], sizeof(l->data[cell]));
	hal_add32(&l->x[cell], round - hal_load32(&l->x[cell]));
	return 0;
}

static uint32_t
data_behind(struct litmus *l, unsigned cell, uint32_t round, bool there)
{
	if (!there)
		return 0;
	hal_acquire(&l->data[cell], sizeof(l->data[cell]));
	return l->data[cell] == round ? 3 : 1;
}

static uint32_t
load_then_acquire(struct litmus *l, unsigned cell, uint32_t round)
{
	return data_behind(l, cell, round, is(&l->x[cell], round));
}

static uint32_t
add_then_acquire(struct litmus *l, unsigned cell, uint32_t round)
{
	return data_behind(l, cell, round, hal_add32(&l->x[cell], 0) == round);
}

/* --- store buffering --- */

static uint32_t
store_x_fence_load_y(struct litmus *l, unsigned cell, uint32_t round)
{
	hal_store32(&l->x[cell], round);
	hal_fence();
	return is(&l->y[cell], round);
}

static uint32_t
store_y_fence_load_x(struct litmus *l, unsigned cell, uint32_t round)
{
	hal_store32(&l->y[cell], round);
	hal_fence();
	return is(&l->x[cell], round);
}

static uint32_t
store_x_load_y(struct litmus *l, unsigned cell, uint32_t round)
{
	hal_store32(&l->x[cell], round);
	return is(&l->y[cell], round);
}

static uint32_t
store_y_load_x(struct litmus *l, unsigned cell, uint32_t round)
{
	hal_store32(&l->y[cell], round);
	return is(&l->x[cell], round);
}

static uint32_t
store_x_add_load_y(struct litmus *l, unsigned cell, uint32_t round)
{
	hal_store32(&l->x[cell], round);
	hal_add32(&l->count[cell], 1);
	return is(&l->y[cell], round);
}

static uint32_t
store_y_add_load_x(struct litmus *l, unsigned cell, uint32_t round)
{
	hal_store32(&l->y[cell], round);
	hal_add32(&l->count[cell], 1);
	return is(&l->x[cell], round);
}

/* What was published before a fence is there for whoever looks after one. */
static uint32_t
publish_fence_load_y(struct litmus *l, unsigned cell, uint32_t round)
{
	__atomic_store_n(&l->data[cell], round, __ATOMIC_RELAXED);
	hal_publish(&l->data[cell], sizeof(l->data[cell]));
	hal_fence();
	return is(&l->y[cell], round);
}

static uint32_t
store_y_fence_acquire(struct litmus *l, unsigned cell, uint32_t round)
{
	hal_store32(&l->y[cell], round);
	hal_fence();
	hal_load32(&l->x[cell]);
	hal_acquire(&l->data[cell], sizeof(l->data[cell]));
	return __atomic_load_n(&l->data[cell], __ATOMIC_RELAXED) == round;
}

static bool
neither_saw_the_other(const uint32_t *saw)
{
	return saw[0] == 0 && saw[1] == 0;
}

/* --- load buffering --- */

static uint32_t
load_x_store_y(struct litmus *l, unsigned cell, uint32_t round)
{
	uint32_t x = is(&l->x[cell], round);

	hal_store32(&l->y[cell], round);
	return x;
}

static uint32_t
load_y_store_x(struct litmus *l, unsigned cell, uint32_t round)
{
	uint32_t y = is(&l->y[cell], round);

	hal_store32(&l->x[cell], round);
	return y;
}

static bool
both_saw_the_other(const uint32_t *saw)
{
	return saw[0] == 1 && saw[1] == 1;
}

/* --- three and four cores --- */

static uint32_t
store_x(struct litmus *l, unsigned cell, uint32_t round)
{
	hal_store32(&l->x[cell], round);
	return 0;
}

static uint32_t
store_y(struct litmus *l, unsigned cell, uint32_t round)
{
	hal_store32(&l->y[cell], round);
	return 0;
}

/* Core 1 saw x and then stored y; who sees y must see x. */
static bool
effect_without_cause(const uint32_t *saw)
{
	return saw[1] == 1 && saw[2] == 1;
}

/* Two cores saw two independent stores in opposite orders. */
static bool
orders_differ(const uint32_t *saw)
{
	return saw[2] == 1 && saw[3] == 1;
}

/* --- a copy that is looked at again: what reads a slot that its writer may fill anew --- */

static uint32_t
write_pair(struct litmus *l, unsigned cell, uint32_t round)
{
	hal_store32(&l->version[cell], round | WRITING);
	hal_fence();
	for (unsigned i = 0; i < 2; i++)
		__atomic_store_n(&l->pair[cell][i], round, __ATOMIC_RELAXED);
	hal_publish(l->pair[cell], sizeof(l->pair[cell]));
	hal_store32(&l->version[cell], round);
	return 0;
}

static uint32_t
copy_pair(struct litmus *l, unsigned cell, uint32_t round)
{
	uint32_t version = hal_load32(&l->version[cell]), pair[2];

	(void)round;
	hal_acquire(l->pair[cell], sizeof(l->pair[cell]));
	for (unsigned i = 0; i < 2; i++)
		pair[i] = __atomic_load_n(&l->pair[cell][i], __ATOMIC_RELAXED);
	hal_fence();
	if ((version & WRITING) != 0 || hal_load32(&l->version[cell]) != version)
		return 0;
	return pair[0] != version || pair[1] != version;
}

static bool
copy_was_torn(const uint32_t *saw)
{
	return saw[1] == 1;
}

/* --- running --- */

/* The roles begin with a cell as close together as can be. */
static void
meet(struct testbed *bed, unsigned cell)
{
	uint32_t all = (cell + 1) * bed->play.roles;
	int looks = cell == 0 ? FIRST_PATIENCE : PATIENCE;

	hal_add32(&bed->counter, 1);
	for (int i = 0; i < looks && hal_load32(&bed->counter) < all; i++)
		;
}

static void
play(struct testbed *bed, unsigned core)
{
	struct litmus *l = &bed->litmus;
	uint32_t *saw = bed->core[core].box.message;

	hal_acquire(&bed->play, sizeof(bed->play));
	for (unsigned cell = 0; cell < LITMUS_CELLS; cell++) {
		meet(bed, cell);
		saw[cell] = bed->play.program->role[core](l, cell, bed->play.round) |
			bed->play.round << SAW_BITS;
	}
	hal_publish(saw, LITMUS_CELLS * sizeof(*saw));
}

static void
prepare(struct testbed *bed, const struct program *p)
{
	unsigned roles = 0;

	while (roles < ROLES_MAX && p->role[roles] != NULL)
		roles++;
	bed->play = (struct play){p, roles, bed->play.round + 1};
	hal_publish(&bed->play, sizeof(bed->play));
	hal_store32(&bed->counter, 0);
}

static unsigned
wrong_cells(struct testbed *bed, const struct program *p)
{
	unsigned wrong = 0;

	for (unsigned i = 1; i < bed->play.roles; i++)
		hal_acquire(bed->core[i].box.message, sizeof(bed->core[i].box.message));
	for (unsigned cell = 0; cell < LITMUS_CELLS; cell++) {
		uint32_t saw[ROLES_MAX] = {0};

		for (unsigned i = 0; i < bed->play.roles; i++) {
			expect(bed, bed->core[i].box.message[cell] >> SAW_BITS == bed->play.round);
			saw[i] = bed->core[i].box.message[cell] & ((1u << SAW_BITS) - 1);
		}
		wrong += p->is_wrong(saw);
	}
	return wrong;
}

/* How often a program saw what it calls wrong. */
static unsigned
run_program(struct testbed *bed, const struct program *p)
{
	unsigned wrong = 0;

	for (unsigned round = 0; round < litmus_rounds(); round++) {
		prepare(bed, p);
		for (unsigned i = 1; i < bed->play.roles; i++)
			on_core(bed, i, play);
		play(bed, 0);
		for (unsigned i = 1; i < bed->play.roles; i++)
			wait_for_core(bed, i);
		wrong += wrong_cells(bed, p);
	}
	return wrong;
}

#define NEVER(name, wrong, ...) \
	static void \
	name(struct testbed *bed) \
	{ \
		static const struct program p = {{__VA_ARGS__}, wrong}; \
		expect(bed, run_program(bed, &p) == 0); \
	}

NEVER(words_in_order, second_saw_one_alone, store_both, load_y_then_x)
NEVER(data_before_store, second_saw_one_alone, publish_then_store, load_then_acquire)
NEVER(data_before_add, second_saw_one_alone, publish_then_add, add_then_acquire)
NEVER(data_before_fence, neither_saw_the_other, publish_fence_load_y, store_y_fence_acquire)
NEVER(fences_order_all, neither_saw_the_other, store_x_fence_load_y, store_y_fence_load_x)
NEVER(adds_order_all, neither_saw_the_other, store_x_add_load_y, store_y_add_load_x)
NEVER(loads_before_stores, both_saw_the_other, load_x_store_y, load_y_store_x)
NEVER(causes_first, effect_without_cause, store_x, load_x_store_y, load_y_then_x)
NEVER(one_order_for_all, orders_differ, store_x, store_y, load_x_then_y, load_y_then_x)
NEVER(copies_are_whole, copy_was_torn, write_pair, copy_pair)

/*
 * The control: what the fences are for. It may be seen, and mostly is: how often stands in the
 * output.
 */
static void
stores_are_late_without_fence(struct testbed *bed)
{
	static const struct program p = {{store_x_load_y, store_y_load_x}, neither_saw_the_other};

	test_note(bed, "without fences neither core saw the other's store in so many cells",
		run_program(bed, &p));
}

const struct hal_test litmus_tests[] = {
	{"litmus_two_stores_are_seen_in_their_order", words_in_order, 2, 1},
	{"litmus_data_come_before_the_store_behind_their_publish", data_before_store, 2, 1},
	{"litmus_data_come_before_the_add_behind_their_publish", data_before_add, 2, 1},
	{"litmus_data_come_before_the_fence_behind_their_publish", data_before_fence, 2, 1},
	{"litmus_with_fences_one_of_two_sees_the_others_store", fences_order_all, 2, 1},
	{"litmus_with_adds_one_of_two_sees_the_others_store", adds_order_all, 2, 1},
	{"litmus_without_fences_stores_may_be_late", stores_are_late_without_fence, 2, 1},
	{"litmus_no_store_is_seen_before_an_earlier_load", loads_before_stores, 2, 1},
	{"litmus_who_sees_an_effect_sees_its_cause", causes_first, 3, 1},
	{"litmus_all_cores_see_stores_in_one_order", one_order_for_all, 4, 1},
	{"litmus_a_copy_that_is_looked_at_again_is_whole", copies_are_whole, 2, 1},
	{NULL, NULL, 0, 0},
};
