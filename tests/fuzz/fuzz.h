/* SPDX-License-Identifier: MIT
 *
 * Random kernel calls, made from the table: <abi/kcall_shapes.h> says of each argument what kind it
 * is and which pool of learned numbers it is drawn from; whatever a call returns goes into the pool
 * of the calls with the same first word, so that ids, frames and handles of any kind are used by
 * those who take them, also when they are stale or belong to somebody else. Addresses are good
 * ones, and ones that are not mapped, not writable, at the border of a page, in the kernel,
 * misaligned, or wrap around.
 *
 * The same for all ports: tests/kernel/fuzz.c runs it in processes, tests/coroutine/kernel_fuzz.c
 * under the seeded scheduler.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <abi/kcalls.h>
#include <abi/kcall_shapes.h>
#include <abi/layout.h>
#include <abi/limits.abi.h>

#define FUZZ_POOL 8		/* numbers remembered of each kind: the last */
#define FUZZ_AREAS 8
/* processes that a child may make: most of what a process tries is not that */
#define FUZZ_MADE 96
#define FUZZ_SCRATCH 1024	/* bytes of a thread's own buffer; arguments of one call share it */

/* What the threads of one process share; others read it, too, as hints. */
struct fuzz {
	/* nothing: results go to the first address of a process, too, and this may lie there */
	uint64_t hit[64];
	uint32_t calls;
	uint32_t made;
	uint32_t done;			/* calls that returned no error */
	uint32_t last_call;		/* number of the newest */
	uint8_t worked[KC_COUNT];	/* calls that returned no error once */
	uint32_t seed;
	/* calls after which the first thread ends the process; 0: none */
	uint32_t quota;
	bool loops;			/* the threads make no calls at all */
	/* a handle that names the process, with all rights; 0: none */
	int32_t itself;
	/* number of a thread of its own that has stopped at a fault; 0: none was told */
	int32_t stopped;
	const struct fuzz *other;	/* of another process */
	int32_t pool[KCALL_POOLS][FUZZ_POOL];
	uint32_t learned[KCALL_POOLS];
	uint64_t area[FUZZ_AREAS];	/* addresses that calls gave */
	uint32_t areas;
	uint32_t page;			/* bytes */
	uint64_t now;			/* the newest answer of `clock` */
	uint64_t edge;			/* pages: writable, absent, readable, absent */
	/* program text, program data, the kernel, and what the port adds */
	uint64_t fixed[4];
	/*
	 * a register context is read from own memory only, and no thread goes on where no code is
	 */
	bool strict_context;
};

/* One thread's view. */
struct fuzz_thread {
	struct fuzz *f;
	uint32_t random;
	bool never_blocks;
	unsigned char *scratch;		/* FUZZ_SCRATCH bytes, aligned to 8 */
	uint32_t used;
};

/*
 * Supplied by the port: one call; a register context (good or bad) to `to`; where a handler begins
 * that returns, and leaves alone what it cannot reach (fuzz_handle), with the top of a stack for
 * the caller, or of the stacks for the threads of its process.
 */
long fuzz_kcall(unsigned long number, const unsigned long a[6]);
void fuzz_context(struct fuzz_thread *t, void *to);
unsigned long fuzz_handler(struct fuzz_thread *t, unsigned long *own_stack, unsigned long *stacks,
	unsigned long *stack_bytes);

/* Calls that come less often than others, one time in `times`. */
struct fuzz_rare {
	char name[20];
	uint32_t times;
};

static const struct fuzz_rare fuzz_rare[] = {
	{"machine_halt", 50},	/* a child may not; the way to the refusal is short */
	{"proc_exit", 300},	/* ends the caller */
	{"proc_kill", 60},	/* may end it */
	{"thread_exit", 20},	/* ends the caller */
	{"thread_sleep", 4},	/* waits for one of few wake-ups */
	{"console_write", 50},	/* somebody has to read it */
	{"cluster_watch", 10},	/* waits for ever */
};

static inline uint32_t
fuzz_random(struct fuzz_thread *t, uint32_t n)
{
	uint32_t x = t->random;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	t->random = x;
	return (x >> 7) % n;
}

static inline bool
fuzz_chance(struct fuzz_thread *t, uint32_t percent)
{
	return fuzz_random(t, 100) < percent;
}

/* A number that is none of a pool: mostly small, else at some border. */
static inline unsigned long
fuzz_number(struct fuzz_thread *t)
{
	unsigned long border = 1ul << fuzz_random(t, sizeof(long) * 8);

	switch (fuzz_random(t, 40)) {
	case 0: return border;
	case 1: return border - 1;
	case 2: return -border;
	case 3: return ~0ul - fuzz_random(t, 16);
	case 4: return (unsigned long)INT32_MAX - fuzz_random(t, 2);
	case 5: return (unsigned long)fuzz_random(t, 1u << 20) << fuzz_random(t, 12);
	case 6: case 7: return (unsigned long)SELF;
	case 8: return fuzz_random(t, 300);
	default: return fuzz_random(t, fuzz_chance(t, 60) ? 2 : 8);
	}
}

/*
 * One of a pool: of the own ones, the newest are preferred; of others; a stale one; of another
 * kind.
 */
static inline unsigned long
fuzz_learned(struct fuzz_thread *t, unsigned pool)
{
	const struct fuzz *f = t->f;
	uint32_t kind = fuzz_random(t, 20), have;

	if (pool == KCALL_ANY_POOL)
		pool = 1 + fuzz_random(t, KCALL_POOLS - 1);
	if (kind == 0)
		f = f->other;
	have = f->learned[pool] < FUZZ_POOL ? f->learned[pool] : FUZZ_POOL;
	if (kind == 1)
		return (unsigned long)f->pool[fuzz_random(t, KCALL_POOLS)][fuzz_random(t,
			FUZZ_POOL)];
	if (kind == 2 || have == 0)
		return fuzz_number(t);
	if (kind == 3)
		return (unsigned long)f->pool[pool][fuzz_random(t, FUZZ_POOL)] +
			(fuzz_random(t, 2) ? 1ul << 12 : 1);
	if (kind < 12)
		return (unsigned long)f->pool[pool][(f->learned[pool] - 1) % FUZZ_POOL];
	return (unsigned long)f->pool[pool][fuzz_random(t, FUZZ_POOL)];
}

/* An address for a call that works on pages. */
static inline unsigned long
fuzz_address(struct fuzz_thread *t)
{
	struct fuzz *f = t->f;
	uint32_t areas = f->areas < FUZZ_AREAS ? f->areas : FUZZ_AREAS;
	uint64_t at = areas > 0 ? f->area[fuzz_random(t, areas)] : f->edge;

	at += (uint64_t)fuzz_random(t, 4) * f->page;
	switch (fuzz_random(t, 24)) {
	case 0: return (unsigned long)at + 1 + fuzz_random(t, 7);
	case 1: return (unsigned long)at - f->page * fuzz_random(t, 3);
	case 2: return (unsigned long)f->edge + fuzz_random(t, 5) * f->page;
	case 3: return (unsigned long)f->fixed[fuzz_random(t, 4)] + (unsigned long)f->page * 4096;
	case 4: return ~0ul << fuzz_random(t, sizeof(long) * 8);
	case 5: return fuzz_number(t);
	case 6: return (1ul << fuzz_random(t, sizeof(long) * 8)) & ~(f->page - 1ul);
	case 7: return fuzz_random(t, 20) != 0 ? (unsigned long)at :
		(unsigned long)f->fixed[fuzz_random(t, 4)] & ~(f->page - 1ul);
	default: return (unsigned long)at;
	}
}

/* Bytes for a buffer of a call: own ones that work, or others. */
static inline unsigned long
fuzz_buffer(struct fuzz_thread *t, uint32_t bytes)
{
	struct fuzz *f = t->f;
	unsigned long own = (unsigned long)t->scratch + t->used, edge = (unsigned long)f->edge;

	t->used = (t->used + bytes + 7) & ~7u;
	if (fuzz_chance(t, 80))
		return own;
	switch (fuzz_random(t, 8)) {
	/* its end may lie in the absent page */
	case 0: return edge + f->page - fuzz_random(t, bytes + 9);
	/* its end in the one for reading */
	case 1: return edge + 2 * f->page - fuzz_random(t, bytes + 9);
	case 2: return edge + 2 * f->page + fuzz_random(t, f->page);
	case 3: return (unsigned long)f->fixed[2] + fuzz_random(t, f->page);
	case 4: return ~0ul - fuzz_random(t, bytes + 9);
	case 5: return fuzz_random(t, f->page);
	case 6: return own + fuzz_random(t, 8);
	default: return fuzz_number(t);
	}
}

static inline unsigned long
fuzz_in(struct fuzz_thread *t, const struct kcall_word *w)
{
	unsigned char *own = t->scratch + t->used;
	bool is_context = w->size == CONTEXT_SIZE;
	unsigned long at;

	if (is_context) {
		fuzz_context(t, own);
	} else {
		for (uint32_t i = 0; i < w->size; i++)
			own[i] = "fuzz\n"[i % 5];
	}
	at = fuzz_buffer(t, w->size);
	if (is_context && t->f->strict_context && at != (unsigned long)own)
		return fuzz_random(t, t->f->page);
	return at;
}

/* Never, over long ago, soon, or at a power of two. */
static inline unsigned long
fuzz_deadline(struct fuzz_thread *t)
{
	switch (fuzz_random(t, 4)) {
	case 0: return ~0ul;
	case 1: return (unsigned long)t->f->now + fuzz_random(t, 1u << 18);
	default: return fuzz_number(t);
	}
}

static inline unsigned long
fuzz_word(struct fuzz_thread *t, const struct kcall_word *w)
{
	switch (w->kind) {
	case KCALL_IN:
		return fuzz_in(t, w);
	case KCALL_OUT:
		return fuzz_buffer(t, w->size);
	case KCALL_LENGTH:
		return fuzz_chance(t, 80) ? fuzz_random(t, 8) : fuzz_chance(t, 50) ?
			w->size + fuzz_random(t, 2) : fuzz_number(t);
	case KCALL_BYTES:
		return fuzz_chance(t, 80) ? (unsigned long)(1 + fuzz_random(t, 4)) * t->f->page :
			fuzz_number(t);
	case KCALL_WORD:
		return fuzz_chance(t, 90) ? fuzz_address(t) : fuzz_number(t);
	case KCALL_UNTIL:
		return fuzz_deadline(t);
	default:
		if (w->pool == 0)
			return fuzz_number(t);
		return w->takes_self && fuzz_chance(t, 80) ? (unsigned long)SELF :
			fuzz_learned(t, w->pool);
	}
}

static inline bool
fuzz_same(const char *a, const char *b)
{
	while (*a != 0 && *a == *b)
		a++, b++;
	return *a == *b;
}

static inline bool
fuzz_has(const char *text, const char *part)
{
	for (; *text != 0; text++) {
		size_t n = 0;

		while (part[n] != 0 && text[n] == part[n])
			n++;
		if (part[n] == 0)
			return true;
	}
	return false;
}

/* Does it end the waiting of others? */
static inline bool
fuzz_wakes(const struct kcall_shape *s)
{
	return fuzz_has(s->name, "_wake") || fuzz_has(s->name, "_write") ||
		fuzz_has(s->name, "_signal") || fuzz_has(s->name, "_cancel");
}

static inline bool
fuzz_may(struct fuzz_thread *t, const struct kcall_shape *s)
{
	if (t->never_blocks && (s->blocks || fuzz_same(s->name, "context_set")))
		return false;
	if (fuzz_same(s->name, "proc_create") && t->f->made >= FUZZ_MADE)
		return false;
	for (size_t i = 0; i < sizeof(fuzz_rare) / sizeof(fuzz_rare[0]); i++)
		if (fuzz_same(fuzz_rare[i].name, s->name))
			return fuzz_random(t, fuzz_rare[i].times) == 0;
	return true;
}

/* It knows a handle of a process. */
static inline void
fuzz_learn_process(struct fuzz *f, int32_t handle)
{
	unsigned pool = kcall_shapes[KC_PROC_CREATE - KC_FIRST].gives;

	f->pool[pool][f->learned[pool]++ % FUZZ_POOL] = handle;
}

/* A copy of a handle names what the handle does: it is used where that is. */
static inline void
fuzz_learn_copy(struct fuzz *f, int32_t handle, int32_t copy)
{
	for (unsigned pool = 1; pool < KCALL_POOLS; pool++)
		for (unsigned i = 0; i < FUZZ_POOL; i++)
			if (f->pool[pool][i] == handle) {
				f->pool[pool][f->learned[pool]++ % FUZZ_POOL] = copy;
				return;
			}
}

static inline void
fuzz_learn(struct fuzz_thread *t, const struct kcall_shape *s, const unsigned long *a, long result)
{
	struct fuzz *f = t->f;

	if (result < 0)
		return;
	f->done++;
	f->worked[s - kcall_shapes] = 1;
	/* 0 is what most calls return that give nothing */
	if (result > 0 || fuzz_random(t, 8) == 0)
		f->pool[s->gives][f->learned[s->gives]++ % FUZZ_POOL] = (int32_t)result;
	if (fuzz_same(s->name, "handle_duplicate") && (int)a[1] == SELF)
		fuzz_learn_copy(f, (int32_t)a[0], (int32_t)result);
	if (fuzz_same(s->name, "proc_create"))
		__atomic_fetch_add(&f->made, 1, __ATOMIC_RELAXED);
	if (fuzz_same(s->name, "fault_next") && a[3] - (unsigned long)t->scratch < FUZZ_SCRATCH)
		__builtin_memcpy(&f->stopped, (const char *)a[3] + offsetof(struct crash_info, tid),
			sizeof(f->stopped));
	for (unsigned i = 0; i < s->words; i++) {
		uint64_t value;

		if (s->word[i].kind != KCALL_OUT || s->word[i].size != 8 ||
			a[i] - (unsigned long)t->scratch >= FUZZ_SCRATCH)
			continue;
		__builtin_memcpy(&value, (const void *)a[i], sizeof(value));
		if (fuzz_same(s->name, "clock"))
			f->now = value;
		else if (value >= f->page && value % f->page == 0)
			f->area[f->areas++ % FUZZ_AREAS] = value;
	}
}

/* The number of no call, or of one for a handler. */
static inline unsigned long
fuzz_other_call(struct fuzz_thread *t)
{
	if (fuzz_chance(t, 40))
		return KC_FIRST + KC_COUNT + fuzz_random(t, 3);
	return fuzz_chance(t, 50) ? fuzz_number(t) | 1ul << 31 : fuzz_random(t, KC_FIRST);
}

/*
 * What a handler does: after a fault none is there any more, so that the call that starts again
 * gets its error.
 */
static inline long
fuzz_handle(const struct handler_event *e)
{
	static const unsigned long none[6] = {HANDLE_CALLS | HANDLE_FAULTS};

	if (e->cause == CRASH_NONE)
		return (long)e->args[0];
	if (e->cause == HANDLER_UPCALL)
		return 0;
	if (fuzz_kcall(KC_PROC_HANDLER, (unsigned long[6]){(unsigned long)SELF, HANDLE_FAULTS}) ==
		0)
		fuzz_kcall(KC_THREAD_HANDLER, none);
	return 0;
}

/* Handlers mostly begin where one is: what others do to their process is soon over. */
static inline void
fuzz_handlers(struct fuzz_thread *t, const struct kcall_shape *s, unsigned long *a)
{
	unsigned long entry, own, stacks, bytes;

	if (!fuzz_has(s->name, "_handler") || (!t->f->strict_context && fuzz_chance(t, 5)))
		return;
	entry = fuzz_handler(t, &own, &stacks, &bytes);
	if (fuzz_same(s->name, "thread_handler")) {
		a[1] = entry;
		a[2] = own;
	} else {
		a[2] = entry;
		a[3] = stacks;
		a[4] = bytes;
	}
}

/* Views of memory: made, mapped and revoked often enough that the one comes behind the other. */
static inline void
fuzz_views(struct fuzz_thread *t, const struct kcall_shape *s, unsigned long *a)
{
	unsigned memory = kcall_shapes[KC_MEMORY_CREATE - KC_FIRST].gives;

	if (fuzz_same(s->name, "page_map") && fuzz_chance(t, 30)) {
		a[0] = (unsigned long)SELF;
		a[1] = (unsigned long)t->f->edge + (1 + fuzz_random(t, 40)) * t->f->page;
		a[3] = 0;
		a[4] = 1;
		a[5] = PAGE_READ;
	}
	if (fuzz_same(s->name, "handle_duplicate") && fuzz_chance(t, 50)) {
		a[0] = fuzz_learned(t, memory);
		a[1] = (unsigned long)SELF;
		a[2] = RIGHTS_ALL | (fuzz_chance(t, 70) ? HANDLE_VIEW : 0);
	}
	if (fuzz_same(s->name, "handle_revoke") && fuzz_chance(t, 80))
		a[0] = fuzz_learned(t, memory);
}

/* Faults that the process handles itself: bound, taken and answered by one thread or another. */
static inline void
fuzz_faults(struct fuzz_thread *t, const struct kcall_shape *s, unsigned long *a)
{
	if (fuzz_same(s->name, "event_bind") && fuzz_chance(t, 20)) {
		a[0] = EVENT_FAULT;
		a[1] = (unsigned long)SELF;
		a[2] = fuzz_random(t, 3);
	}
	if (fuzz_same(s->name, "fault_next") && (t->f->strict_context || fuzz_chance(t, 80)))
		a[2] = fuzz_chance(t, 50) ? 0 : FAULT_REFUSED;
	if (!fuzz_has(s->name, "fault_") || fuzz_chance(t, 20))
		return;
	a[0] = (unsigned long)SELF;
	a[1] = fuzz_same(s->name, "fault_next") && fuzz_chance(t, 60) ? 0 :
		(unsigned long)(uint32_t)t->f->stopped;
}

/* Memory that comes when it is touched, by the calls that are given its addresses. */
static inline void
fuzz_lazy(struct fuzz_thread *t, const struct kcall_shape *s, unsigned long *a)
{
	if (!fuzz_same(s->name, "mem_alloc") || fuzz_chance(t, 60))
		return;
	a[0] = (unsigned long)SELF;
	a[1] = (1 + fuzz_random(t, 20)) * t->f->page;
	a[2] = PAGE_READ | PAGE_LAZY | fuzz_random(t, 8);
}

/* Upcalls: masks of the bits that others set, and alarms that come. */
static inline void
fuzz_alarms(struct fuzz_thread *t, const struct kcall_shape *s, unsigned long *a)
{
	struct alarm_times times = {fuzz_deadline(t), fuzz_chance(t, 50) ? 0 : ALARM_PERIOD_MIN};

	if (fuzz_same(s->name, "thread_upcalls") && fuzz_chance(t, 80))
		a[0] = fuzz_random(t, 8);
	if (!fuzz_same(s->name, "alarm_set") || fuzz_chance(t, 20))
		return;
	a[0] = fuzz_random(t, 3);
	__builtin_memcpy(t->scratch, &times, sizeof(times));
	a[1] = (unsigned long)t->scratch;
}

/* One random call. */
static inline void
fuzz_step(struct fuzz_thread *t)
{
	const struct kcall_shape *s;
	unsigned long a[6], number;
	bool wakes = t->never_blocks && fuzz_chance(t, 25);

	do
		s = &kcall_shapes[fuzz_random(t, KC_COUNT)];
	while (!fuzz_may(t, s) || (wakes && !fuzz_wakes(s)));
	number = KC_FIRST + (unsigned long)(s - kcall_shapes);
	if (fuzz_random(t, 200) == 0)
		number = fuzz_other_call(t);
	t->used = 0;
	for (unsigned i = 0; i < 6; i++)
		a[i] = i < s->words ? fuzz_word(t, &s->word[i]) : fuzz_number(t);
	fuzz_handlers(t, s, a);
	fuzz_views(t, s, a);
	fuzz_faults(t, s, a);
	fuzz_lazy(t, s, a);
	fuzz_alarms(t, s, a);
	t->f->last_call = (uint32_t)number;
	__atomic_fetch_add(&t->f->calls, 1, __ATOMIC_RELAXED);
	fuzz_learn(t, s, a, fuzz_kcall(number, a));
}

#endif
