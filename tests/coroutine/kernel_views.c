/* SPDX-License-Identifier: MIT
 *
 * Views under the coroutine scheduler: threads of several processes duplicate handles, with new
 * views and without, revoke, close, use and wait by them at the same time, and processes are killed
 * meanwhile. A naive oracle knows of each copy the whole way by which it was derived and when each
 * step began and ended. What was revoked or closed before a use began is dead; what nobody has
 * begun to revoke or close when the use ends is alive; a wait by a handle ends when that dies, and
 * an event that was bound by it tells so, once. In the end everything is back.
 *
 * usage: kernel_views [COUNT [FIRST]]
 */
#include <stdio.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <tests/coroutine/program.h>

#define USERS 2				/* processes; number USERS is init itself */
#define THREADS 3			/* of each */
#define TARGETS 2			/* processes that handles name */
#define COPIES 160
#define REVOCATIONS 400
#define DEPTH 8
#define STEPS 30			/* of a thread */
#define STACK_BYTES (24 * 1024)
#define NEVER UINT32_MAX

/* When something began and ended, by a clock that counts both. */
struct span {
	uint32_t begin;
	uint32_t end;
};

struct revocation {
	const struct copy *by;		/* which survives */
	unsigned view;
	struct span span;		/* its end is NEVER while it is under way */
	bool has_failed;
};

struct copy {
	int handle;
	unsigned owner;
	unsigned target;
	struct span made;
	uint32_t closing;		/* when the first close began; NEVER: none */
	uint32_t closed;		/* when one had ended */
	unsigned closers;
	bool is_closed;
	unsigned depth;
	unsigned way[DEPTH];
};

/* To whom the end of a target was bound last, and by which copy. */
struct bound {
	const struct copy *by;
	unsigned thread;
	struct span made;
	bool is_bound;
	bool is_told;
	uint32_t changes;		/* odd: it is being bound */
};

static struct {
	_Alignas(64) unsigned char stack[USERS + 1][THREADS][STACK_BYTES];
	struct context ctx[USERS + 1];
	struct proc_status status[USERS + 1][THREADS];
	struct page_info page[USERS + 1][THREADS];
	struct proc_status ended;
} shared;

static struct {
	uint32_t now;
	struct copy copy[COPIES];
	unsigned copies;
	struct revocation revocation[REVOCATIONS];
	unsigned revocations;
	unsigned views;
	long user[USERS];
	long target[TARGETS];
	unsigned busy;			/* threads of init that still work */
	bool killed[USERS];
	bool stop;
	struct bound bound[TARGETS];
	/* waits that ended well, by a dead handle, by their deadline, at once */
	unsigned waited[4];
} run;

static unsigned long all_waits[4], all_dead, all_told;

/* --- the oracle --- */

static bool
comes_through(const struct copy *c, unsigned view)
{
	for (unsigned i = 0; i < c->depth; i++)
		if (c->way[i] == view)
			return true;
	return false;
}

/* Is there a revocation that kills it: perhaps, or for certain? */
static bool
is_revoked(const struct copy *c, bool certain)
{
	for (unsigned i = 0; i < run.revocations; i++) {
		const struct revocation *r = &run.revocation[i];

		if (r->has_failed || r->by == c || !comes_through(c, r->view))
			continue;
		if (certain ? r->span.begin > c->made.end && r->span.end != NEVER :
			r->span.end > c->made.begin)
			return true;
	}
	return false;
}

/* Is there one for certain that began when a binding had been made? */
static bool
is_revoked_since(const struct copy *c, struct span made)
{
	for (unsigned i = 0; i < run.revocations; i++) {
		const struct revocation *r = &run.revocation[i];

		if (!r->has_failed && r->by != c && comes_through(c, r->view) &&
				r->span.begin > made.end && r->span.end != NEVER)
			return true;
	}
	return false;
}

static bool
may_be_dead(const struct copy *c)
{
	return c->closing != NEVER || is_revoked(c, false);
}

static bool
must_be_dead(const struct copy *c)
{
	return c->closed != NEVER || is_revoked(c, true);
}

static void
compare(const struct copy *c, bool was_dead, long e, const char *what)
{
	if (run.stop)
		return;
	if (e == -E_BADF ? !may_be_dead(c) : was_dead)
		coro_fail("%s by copy %u (handle %x of %u, depth %u) is %ld", what,
			(unsigned)(c - run.copy), (unsigned)c->handle, c->owner,
			c->depth, e);
	all_dead += e == -E_BADF;
}

static struct copy *
copy_add(unsigned owner, unsigned target, long handle, uint32_t begin)
{
	struct copy *c = &run.copy[run.copies++];

	*c = (struct copy){.handle = (int)handle, .owner = owner, .target = target,
		.made = {begin, ++run.now}, .closing = NEVER, .closed = NEVER};
	return c;
}

/* --- steps --- */

static struct copy *
any_own(unsigned me)
{
	for (unsigned n = 0; n < 40 && run.copies > 0; n++) {
		struct copy *c = &run.copy[coro_random(run.copies)];

		if (c->owner == me)
			return c;
	}
	return NULL;
}

static void
duplicate(unsigned me, const struct copy *c)
{
	unsigned to = me == USERS ? coro_random(USERS + 1) : me,
		flags = coro_random(2) ? HANDLE_VIEW : 0;
	struct copy before = *c, *n;
	bool was_dead = must_be_dead(c);
	uint32_t begin = ++run.now;
	long e;

	if (run.copies + USERS * THREADS + THREADS >= COPIES)
		return;
	e = KC(KC_HANDLE_DUPLICATE, c->handle, to == me ? SELF : run.user[to], RIGHTS_ALL | flags);
	if (e == -E_SRCH || e == -E_INVAL || (e == -E_ACCES && to != me))
		return;		/* it was killed; too many views below each other */
	compare(c, was_dead, e, "duplicate");
	if (e < 0)
		return;
	n = copy_add(to, before.target, e, begin);
	n->depth = before.depth;
	memcpy(n->way, before.way, sizeof(n->way));
	if (flags & HANDLE_VIEW)
		n->way[n->depth++] = run.views++;
}

static void
revoke(const struct copy *c)
{
	struct revocation *r = &run.revocation[run.revocations];
	bool was_dead = must_be_dead(c);
	long e;

	if (c->depth == 0) {
		coro_check(KC(KC_HANDLE_REVOKE, c->handle) == (c->closing == NEVER ? -E_INVAL :
			-E_BADF));
		return;
	}
	if (run.revocations++ == REVOCATIONS)
		coro_fail("too many revocations");
	*r = (struct revocation){.by = c, .view = c->way[c->depth - 1], .span = {++run.now, NEVER}};
	e = KC(KC_HANDLE_REVOKE, c->handle);
	r->has_failed = e != 0;
	r->span.end = ++run.now;
	compare(c, was_dead, e, "revoke");
}

static void
close_it(struct copy *c)
{
	long e;

	c->closers++;
	if (c->closing == NEVER)
		c->closing = ++run.now;
	e = KC(KC_HANDLE_CLOSE, c->handle);
	if (run.stop)			/* init closes, too */
		return;
	coro_check(e == 0 ? !c->is_closed : e == -E_BADF && c->closers > 1);
	c->is_closed |= e == 0;
	c->closed = ++run.now;
}

static void
use(unsigned me, unsigned thread, const struct copy *c)
{
	bool was_dead = must_be_dead(c);

	compare(c, was_dead, KC(KC_PAGE_QUERY, c->handle, 0, &shared.page[me][thread]),
		"page_query");
}

/* The end of a target comes only in the end: the wait ends by its deadline or by its handle. */
static void
wait(unsigned me, unsigned thread, const struct copy *c)
{
	bool was_dead = must_be_dead(c);
	uint64_t deadline = coro_random(2) ? FOREVER : 1000 * coro_random(500);
	long e;

	if (c->depth == 0 || (me == USERS && thread == 0))	/* what nobody might end */
		deadline = 1000 * coro_random(500);
	e = KC(KC_PROC_WAIT, c->handle, &shared.status[me][thread], deadline);
	if (e == -E_SRCH && run.stop)
		return;
	coro_check(e == 0 || e == -E_BADF || e == -E_TIMEDOUT || e == -E_INVAL);
	compare(c, was_dead, e, "proc_wait");
	run.waited[e == 0 ? 0 : e == -E_BADF ? 1 : e == -E_TIMEDOUT ? 2 : 3]++;
}

/*
 * The end of a target, which does not come, is told to who bound it last; the bit says that the
 * handle is dead. Each target has its own.
 */
static void
bind(unsigned me, unsigned thread, const struct copy *c)
{
	struct bound *b = &run.bound[c->target];
	bool was_dead = must_be_dead(c);
	long e;

	if (b->changes % 2 != 0)
		return;
	b->changes++;
	b->is_bound = b->is_told = false;
	b->by = c;
	b->thread = me * THREADS + thread;
	b->made.begin = ++run.now;
	e = KC(KC_EVENT_BIND, EVENT_PROC, c->handle, -1);
	if (e == 0) {
		/* what an earlier binding has told */
		KC(KC_THREAD_SLEEP, 1u << c->target, 0);
		e = KC(KC_EVENT_BIND, EVENT_PROC, c->handle, (int)c->target);
	}
	b->made.end = ++run.now;
	b->is_bound = e == 0;
	b->changes++;
	compare(c, was_dead, e, "bind");
}

/* The binding of a target was told to this thread, or it was not. */
static void
look(unsigned me, unsigned thread, unsigned target)
{
	struct bound *b = &run.bound[target];
	uint32_t changes = b->changes;
	bool must_be_told;
	long e;

	if (!b->is_bound || changes % 2 != 0 || b->thread != me * THREADS + thread || run.stop)
		return;
	must_be_told = b->by->closed != NEVER || is_revoked_since(b->by, b->made);
	e = KC(KC_THREAD_SLEEP, 1u << target, 0);
	if (run.stop || b->changes != changes || e == -E_CANCELED)
		return;
	if (e == -E_TIMEDOUT ? must_be_told && !b->is_told : b->is_told || !may_be_dead(b->by))
		coro_fail("a binding of target %u by copy %u says %ld", target,
			(unsigned)(b->by - run.copy), e);
	if (e != -E_TIMEDOUT)
		b->is_told = ++all_told != 0;
}

static void
step(unsigned me, unsigned thread)
{
	struct copy *c = any_own(me);

	if (c == NULL) {
		KC(KC_THREAD_YIELD);
		return;
	}
	look(me, thread, coro_random(TARGETS));
	switch (coro_random(11)) {
	case 10:
		bind(me, thread, c);
		break;
	case 0: case 1: case 2: case 3:
		duplicate(me, c);
		break;
	case 4:
		revoke(c);
		break;
	case 5:
		if (c->depth > 0)
			close_it(c);
		break;
	case 6: case 7:
		wait(me, thread, c);
		break;
	default:
		use(me, thread, c);
	}
}

static void
work(uintptr_t number)
{
	unsigned me = (unsigned)number / THREADS, thread = (unsigned)number % THREADS;

	for (unsigned i = 0; i < STEPS && !run.stop; i++)
		step(me, thread);
	if (me == USERS)
		run.busy--;
	KC(KC_THREAD_EXIT, 0);
}

/* The first thread of a user, and what starts those of init. */
static void
user(uintptr_t me)
{
	long thread;

	for (unsigned i = 1; i < THREADS; i++) {
		coro_user_context(&shared.ctx[me], work, shared.stack[me][i] + STACK_BYTES,
			me * THREADS + i);
		thread = KC(KC_THREAD_CREATE, &shared.ctx[me], ANY_CORE);
		KC(KC_HANDLE_CLOSE, thread);	/* nobody joins it */
	}
	if (me != USERS)
		work(me * THREADS);
}

static void
begin(void)
{
	for (unsigned i = 0; i < TARGETS; i++) {
		run.target[i] = KC(KC_PROC_CREATE);
		coro_check(run.target[i] > 0);
		copy_add(USERS, i, run.target[i], ++run.now);
	}
	for (unsigned i = 0; i < USERS; i++) {
		run.user[i] = KC(KC_PROC_CREATE);
		coro_check(run.user[i] > 0);
	}
	for (unsigned i = 0; i < USERS; i++) {
		coro_user_context(&shared.ctx[i], user, shared.stack[i][0] + STACK_BYTES, i);
		coro_check(KC(KC_PROC_START, run.user[i], &shared.ctx[i], ANY_CORE) == 0);
	}
	run.busy = THREADS - 1;
	user(USERS);
}

/*
 * By another handle of its view, which stays open meanwhile: only the revocation tells a wait by
 * this one. False if nobody may revoke it. What is dead already must have been told.
 */
static bool
revoke_from_aside(int handle, int *aside, unsigned *asides)
{
	long other = KC(KC_HANDLE_DUPLICATE, handle, SELF, RIGHTS_ALL);

	if (other == -E_BADF)
		return true;
	if (other < 0)
		return false;
	aside[(*asides)++] = (int)other;
	return KC(KC_HANDLE_REVOKE, other) == 0;
}

/*
 * What init's threads still wait for by a view ends when the view is revoked, or, in half of the
 * runs, when their handle is closed: no deadline, no target's end is needed for it.
 */
static void
end(void)
{
	int aside[COPIES];
	unsigned asides = 0;
	bool by_close = coro_random(2);

	run.stop = true;
	while (run.busy > 0) {
		for (unsigned i = 0; i < run.copies && asides < COPIES; i++)
			if (run.copy[i].owner == USERS && run.copy[i].depth > 0 && (by_close ||
					!revoke_from_aside(run.copy[i].handle, aside, &asides)))
				KC(KC_HANDLE_CLOSE, run.copy[i].handle);
		KC(KC_THREAD_YIELD);
	}
	while (asides > 0)
		KC(KC_HANDLE_CLOSE, aside[--asides]);
	for (unsigned i = 0; i < USERS; i++) {
		KC(KC_PROC_KILL, run.user[i], 1);
		coro_check(KC(KC_PROC_WAIT, run.user[i], &shared.ended, FOREVER) == 0);
		coro_check(KC(KC_HANDLE_CLOSE, run.user[i]) == 0);
	}
	for (unsigned i = 0; i < run.copies; i++)
		if (run.copy[i].owner == USERS)
			KC(KC_HANDLE_CLOSE, run.copy[i].handle);
}

static void
program(uintptr_t arg)
{
	uint64_t frames, pieces, threads;

	(void)arg;
	frames = program_stats(STATS_FRAMES_FREE);
	pieces = program_stats(STATS_PIECE_PAGES);
	threads = program_stats(STATS_THREADS);
	begin();
	for (unsigned i = coro_random(200); i > 0 && run.busy > 0; i--)
		step(USERS, 0);
	if (coro_random(2)) {
		KC(KC_PROC_KILL, run.user[0], 2);
		for (unsigned i = coro_random(30); i > 0; i--)
			step(USERS, 0);
	}
	end();
	while (program_stats(STATS_PROCS) > 1 || program_stats(STATS_THREADS) > threads)
		KC(KC_THREAD_YIELD);
	coro_check(program_stats(STATS_FRAMES_FREE) + program_stats(STATS_PIECE_PAGES) ==
		frames + pieces);
	for (unsigned i = 0; i < 4; i++)
		all_waits[i] += run.waited[i];
	coro_finish(0);
}

static void
dump(void)
{
	printf("%u copies, %u views, %u threads of init at work, %s\n", run.copies, run.views,
		run.busy, run.stop ? "at the end" : "under way");
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {
		.name = "revoked_handles_are_dead_and_waits_by_them_end", .seeds = 1000,
		.shared = &shared, .shared_bytes = sizeof(shared), .main = program, .state = &run,
		.state_bytes = sizeof(run), .dump = dump};
	unsigned long count;

	program_is_init = true;
	count = program_seeds(&test, argc, argv);
	if (count == 0)
		return 1;
	if (count >= 100 && (all_dead == 0 || all_told == 0 || all_waits[1] == 0 ||
		all_waits[2] == 0)) {
		printf("FAIL revoked_handles_are_dead_and_waits_by_them_end: nothing was ever "
			"revoked in the middle\n");
		return 1;
	}
	printf("ok revoked_handles_are_dead_and_waits_by_them_end (%lu seeds, %lu uses of dead "
		"handles, %lu waits ended by one)\n", count, all_dead,
		all_waits[1]);
	return 0;
}
