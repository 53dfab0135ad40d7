/* SPDX-License-Identifier: MIT
 *
 * Revocation of memory under the coroutine scheduler: threads of several processes make memory,
 * lend it through views, map and unmap it, touch what is mapped, revoke and close, all at the same
 * time, and processes are killed meanwhile. A naive oracle knows of each copy of a handle the whole
 * way by which it was derived, of each page through which copy it was mapped and when, and when
 * each revocation began and ended. What was mapped before a revocation began that ended before a
 * touch cannot be reached; what nobody has begun to revoke is there; and whatever is reached holds
 * what its memory holds, which no other memory does. In the end everything is back. And a process
 * that reads such a page without end, and has no handle of it: whatever it reads until it faults is
 * what the page held, also when the last handle is closed while the page is unmapped, and its frame
 * is somebody else's as soon as it is free.
 *
 * usage: kernel_revoke [COUNT [FIRST]]
 */
#include <stdio.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <tests/coroutine/program.h>

#define USERS 2				/* processes; number USERS is init itself */
#define THREADS 2			/* of each */
#define PAGES 3				/* of a memory, and of a place where it is mapped */
#define PLACES 3			/* of each thread */
#define COPIES 200
#define REVOCATIONS 300
#define DEPTH 8
#define STEPS 40			/* of a thread */
#define STACK_BYTES (24 * 1024)
#define PAGE 4096ul
#define PLACES_AT 0x100000ul
#define NEVER UINT32_MAX
#define RW (PAGE_READ | PAGE_WRITE)

/* When something began and ended, by a clock that counts both. */
struct span {
	uint32_t begin;
	uint32_t end;
};

struct revocation {
	unsigned view;
	const struct copy *by;
	struct span span;		/* its end is NEVER while it is under way */
	bool has_failed;
};

struct copy {
	int handle;
	unsigned owner;
	uint32_t tag;			/* what its memory holds */
	struct span made;
	bool closing;
	unsigned depth;
	unsigned way[DEPTH];
};

/* Pages that one thread maps and unmaps, and all of its process touch. */
struct place {
	unsigned long addr;
	struct copy by;
	struct span made;
	bool is_mapped[PAGES];
	bool is_claimed[PAGES];
	uint32_t changes;		/* odd: one is under way */
};

static struct {
	_Alignas(64) unsigned char stack[USERS + 1][THREADS][STACK_BYTES];
	struct context ctx[USERS + 1];
	struct proc_status ended;
	uint64_t addr[USERS + 1][THREADS];
	uint64_t stats;
} shared;

static struct {
	uint32_t now;
	uint32_t tags;
	struct copy copy[COPIES];
	unsigned copies;
	struct revocation revocation[REVOCATIONS];
	unsigned revocations;
	unsigned views;
	struct place place[USERS + 1][THREADS][PLACES];
	long user[USERS];
	unsigned busy;			/* threads of init that still work */
	bool stop;
	int view[2];			/* that are lent to a reader */
	bool has_read;
	bool is_begun;			/* a revocation has begun */
	bool is_taken;			/* one has returned */
} run;

static unsigned long all_reached, all_gone, all_maybe, all_mapped, all_faults;

/* --- the oracle --- */

static bool
comes_through(const struct copy *c, unsigned view)
{
	for (unsigned i = 0; i < c->depth; i++)
		if (c->way[i] == view)
			return true;
	return false;
}

/*
 * Is there a revocation that ends what was made through this copy in this span, perhaps or for
 * certain? One survives: that by which.
 */
static bool
is_revoked(const struct copy *c, const struct copy *survives, struct span made, bool certain)
{
	for (unsigned i = 0; i < run.revocations; i++) {
		const struct revocation *r = &run.revocation[i];

		if (r->has_failed || (survives != NULL && r->by == survives) ||
			!comes_through(c, r->view))
			continue;
		if (certain ? r->span.begin > made.end && r->span.end != NEVER :
			r->span.end > made.begin)
			return true;
	}
	return false;
}

static void
compare(const struct copy *c, bool was_dead, long e, const char *what)
{
	if (run.stop)
		return;
	if (e == -E_BADF ? !c->closing && !is_revoked(c, c, c->made, false) : was_dead)
		coro_fail("%s by copy %u (handle %x of %u, depth %u) is %ld", what,
			(unsigned)(c - run.copy), (unsigned)c->handle, c->owner,
			c->depth, e);
}

static bool
must_be_dead(const struct copy *c)
{
	return is_revoked(c, c, c->made, true);
}

static struct copy *
copy_add(unsigned owner, uint32_t tag, long handle, uint32_t begin)
{
	struct copy *c = &run.copy[run.copies++];

	*c = (struct copy){.handle = (int)handle, .owner = owner, .tag = tag,
		.made = {begin, ++run.now}};
	return c;
}

/* --- steps --- */

/* The call of a process that is killed meanwhile has no result; its threads do nothing more. */
static long
unless_killed(long e)
{
	while (e == -E_CANCELED)
		KC(KC_THREAD_YIELD);
	return e;
}

#define CALL(...) unless_killed(KC(__VA_ARGS__))

static bool
is_full(void)
{
	return run.copies + (USERS + 1) * THREADS >= COPIES;
}

static struct copy *
any_own(unsigned me)
{
	for (unsigned n = 0; n < 30 && run.copies > 0; n++) {
		struct copy *c = &run.copy[coro_random(run.copies)];

		if (c->owner == me && !(c->closing && coro_random(8)))
			return c;
	}
	return NULL;
}

static struct place *
any_place(unsigned me, unsigned thread)
{
	return &run.place[me][thread][coro_random(PLACES)];
}

/* New memory, each of whose pages holds what no other does. */
static void
create(unsigned me, unsigned thread)
{
	uint32_t begin = ++run.now, tag = ++run.tags;
	unsigned long at;
	long memory;

	if (is_full())
		return;
	memory = CALL(KC_MEMORY_CREATE, PAGES);
	coro_check(memory > 0);
	at = run.place[me][thread][0].addr - PAGES * PAGE;
	coro_check(CALL(KC_PAGE_MAP, SELF, at, memory, 0, PAGES, RW) == 0);
	for (unsigned i = 0; i < PAGES; i++)
		coro_user_store32(at + i * PAGE, tag * PAGES + i);
	coro_check(CALL(KC_PAGE_UNMAP, SELF, at, PAGES) == 0);
	copy_add(me, tag, memory, begin);
}

static void
duplicate(unsigned me, const struct copy *c)
{
	unsigned to = me == USERS ? coro_random(USERS + 1) : me,
		flags = coro_random(3) ? HANDLE_VIEW : 0;
	struct copy before = *c, *n;
	bool was_dead = must_be_dead(c);
	uint32_t begin = ++run.now;
	long e;

	if (is_full())
		return;
	e = CALL(KC_HANDLE_DUPLICATE, c->handle, to == me ? SELF : run.user[to],
		RIGHTS_ALL | flags);
	if (e == -E_SRCH || e == -E_INVAL)
		return;		/* it was killed; too many views below each other */
	compare(c, was_dead, e, "duplicate");
	if (e < 0)
		return;
	n = copy_add(to, before.tag, e, begin);
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

	if (c->depth == 0 || run.revocations == REVOCATIONS)
		return;
	run.revocations++;
	*r = (struct revocation){.by = c, .view = c->way[c->depth - 1], .span = {++run.now, NEVER}};
	e = CALL(KC_HANDLE_REVOKE, c->handle);
	r->has_failed = e != 0;
	r->span.end = ++run.now;
	compare(c, was_dead, e, "revoke");
}

static void
close_it(struct copy *c)
{
	c->closing = true;
	CALL(KC_HANDLE_CLOSE, c->handle);
}

/* Give up some pages, all of which are claimed. */
static void
unmap(struct place *p, unsigned first, unsigned count)
{
	p->changes++;
	for (unsigned i = first; i < first + count; i++)
		p->is_mapped[i] = p->is_claimed[i] = false;
	coro_check(CALL(KC_PAGE_UNMAP, SELF, p->addr + first * PAGE, count) == 0);
	p->changes++;
}

static void
empty_place(struct place *p)
{
	if (p->is_claimed[0] && p->is_claimed[1] && p->is_claimed[2] && coro_random(2))
		unmap(p, 0, PAGES);
	for (unsigned i = 0; i < PAGES; i++)
		if (p->is_claimed[i])
			unmap(p, i, 1);
}

static void
map(struct place *p, const struct copy *c)
{
	struct copy by = *c;
	bool was_dead;
	long e;

	empty_place(p);
	was_dead = must_be_dead(c);
	p->changes++;
	p->made.begin = ++run.now;
	e = CALL(KC_PAGE_MAP, SELF, p->addr, by.handle, 0, PAGES, RW);
	p->made.end = ++run.now;
	compare(c, was_dead, e, "map");
	coro_check(e == 0 || e == -E_BADF);
	p->by = by;
	for (unsigned i = 0; i < PAGES; i++)
		p->is_mapped[i] = p->is_claimed[i] = e == 0;
	all_mapped += e == 0;
	p->changes++;
}

/* Reads a page by a call that says whether it can be read, and whether it holds what it should. */
static void
touch(const struct place *p)
{
	uint32_t changes = p->changes;
	unsigned i = coro_random(PAGES);
	bool must_be_gone = !p->is_mapped[i] || is_revoked(&p->by, NULL, p->made, true),
		must_be_there;
	long e;

	if (changes % 2 != 0 || p->made.end == 0)
		return;
	e = CALL(KC_FUTEX_WAIT, p->addr + i * PAGE, p->by.tag * PAGES + i, 0);
	if (p->changes != changes)
		return;
	must_be_there = p->is_mapped[i] && !is_revoked(&p->by, NULL, p->made, false);
	coro_check(e == -E_TIMEDOUT || e == -E_FAULT || e == -E_AGAIN);
	if (e != -E_FAULT && must_be_gone)
		coro_fail("a page of memory %u is reached through a view that is dead: %ld",
			p->by.tag, e);
	/* -E_AGAIN: it holds something else, or it went between the call's two looks */
	if (e != -E_TIMEDOUT && must_be_there)
		coro_fail("a page of memory %u is gone, and nobody has revoked it: %ld", p->by.tag,
			e);
	*(e == -E_TIMEDOUT ? &all_reached : must_be_gone ? &all_gone : &all_maybe) += 1;
}

static void
step(unsigned me, unsigned thread)
{
	struct copy *c = any_own(me);
	struct place *p;

	if (c == NULL || coro_random(16) == 0) {
		create(me, thread);
		return;
	}
	switch (coro_random(16)) {
	case 0: case 1: case 2: case 3:
		duplicate(me, c);
		break;
	case 4: case 5:
		revoke(c);
		break;
	case 6:
		close_it(c);
		break;
	case 7:
		p = any_place(me, thread);
		if (p->is_claimed[1])
			unmap(p, 1, 1);
		break;
	case 8: case 9: case 10:
		map(any_place(me, thread), c);
		break;
	default:
		touch(any_place(me, coro_random(THREADS)));
	}
}

/*
 * Addresses of its own for each place of a thread, one behind the other, and before them for one
 * more. Nobody allocates any.
 */
static void
places_make(unsigned me, unsigned thread)
{
	for (unsigned i = 0; i < PLACES; i++)
		run.place[me][thread][i].addr = PLACES_AT * (thread + 1) + (i + 1) * PAGES * PAGE;
}

static void
work(uintptr_t number)
{
	unsigned me = (unsigned)number / THREADS, thread = (unsigned)number % THREADS;

	places_make(me, thread);
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
	places_make(USERS, 0);
}

static uint64_t
pages(void)
{
	return program_stats(STATS_FRAMES_FREE) + program_stats(STATS_PIECE_PAGES);
}

static void
begin(void)
{
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

static void
end(void)
{
	run.stop = true;
	while (run.busy > 0)
		KC(KC_THREAD_YIELD);
	for (unsigned i = 0; i < USERS; i++) {
		KC(KC_PROC_KILL, run.user[i], 1);
		coro_check(KC(KC_PROC_WAIT, run.user[i], &shared.ended, FOREVER) == 0);
		coro_check(KC(KC_HANDLE_CLOSE, run.user[i]) == 0);
	}
	for (unsigned i = 0; i < run.copies; i++)
		if (run.copy[i].owner == USERS)
			KC(KC_HANDLE_CLOSE, run.copy[i].handle);
	for (unsigned thread = 0; thread < THREADS; thread++) {
		const struct place *p = run.place[USERS][thread];

		for (unsigned at = 0; at < (PLACES + 1) * PAGES; at++)
			KC(KC_PAGE_UNMAP, SELF, p->addr + at * PAGE - PAGES * PAGE, 1);
	}
}

static void
program(uintptr_t arg)
{
	uint64_t before, threads;

	(void)arg;
	before = pages();
	threads = program_stats(STATS_THREADS);
	begin();
	for (unsigned i = coro_random(150); i > 0; i--)
		step(USERS, 0);
	if (coro_random(2)) {
		KC(KC_PROC_KILL, run.user[0], 2);
		for (unsigned i = coro_random(30); i > 0; i--)
			step(USERS, 0);
	}
	end();
	while (program_stats(STATS_PROCS) > 1 || program_stats(STATS_THREADS) > threads)
		KC(KC_THREAD_YIELD);
	/* what nothing names comes back in steps */
	for (unsigned i = 0; pages() != before; i++)
		coro_check(i < 1000);
	coro_finish(0);
}

/* --- who reads without end --- */

#define ROUNDS 4
#define OFTEN 6				/* times that a reader maps the page */
#define OTHER 0xbad
#define WRITTEN 8			/* where in a page */
#define WATCHED_AT 0x300000ul

/*
 * Each mapping is one of its own; no handle is left. What is read has not been taken away when the
 * reading began. The kernel writes there, too, in the middle of calls, which no shoot-down
 * interrupts.
 */
static void
reader(uintptr_t handle)
{
	unsigned long at;

	coro_check(KC(KC_MEM_ALLOC, SELF, 2 * OFTEN * PAGE, 0, &shared.addr[1][0]) == 0);
	at = (unsigned long)shared.addr[1][0];
	for (unsigned i = 0; i < OFTEN; i++)
		coro_check(KC(KC_PAGE_MAP, SELF, at + 2 * i * PAGE, handle, 0, 1, RW) == 0);
	coro_check(KC(KC_HANDLE_CLOSE, handle) == 0);
	for (run.has_read = true;; KC(KC_THREAD_YIELD)) {
		bool may_read = !run.is_taken;

		if (KC(KC_CLOCK, at + coro_random(OFTEN) * 2 * PAGE + WRITTEN) == -E_FAULT ||
			coro_random(4) == 0)
			coro_check(coro_user_load32(at + coro_random(OFTEN) * 2 * PAGE) ==
				run.tags && may_read);
	}
}

/* Takes what is free, and writes to it. */
static void
write_to_free(unsigned who)
{
	unsigned long at;

	coro_check(KC(KC_MEM_ALLOC, SELF, 2 * PAGE, RW, &shared.addr[0][who]) == 0);
	at = (unsigned long)shared.addr[0][who];
	for (unsigned i = 0; i < 2; i++)
		coro_user_store32(at + i * PAGE + WRITTEN, OTHER);
	for (unsigned i = coro_random(8); i > 0; i--)
		KC(KC_VOID_REMOTE);
	for (unsigned i = 0; i < 2; i++)
		coro_check(coro_user_load32(at + i * PAGE + WRITTEN) == OTHER);
	coro_check(KC(KC_PAGE_UNMAP, SELF, at, 2) == 0);
}

/* A revocation has returned: nobody writes any more to the page that was lent. */
static void
watch(void)
{
	uint32_t seen = coro_user_load32(WATCHED_AT + WRITTEN);

	run.is_taken = true;
	for (unsigned i = coro_random(8); i > 0; i--)
		KC(KC_VOID_REMOTE);
	coro_check(coro_user_load32(WATCHED_AT + WRITTEN) == seen);
}

/* Mostly a little later than the other revocation begins. */
static void
soon(void)
{
	for (unsigned i = coro_random(8) ? 1000 : 0; i > 0 && !run.is_begun; i--)
		KC(KC_THREAD_YIELD);
	for (unsigned i = coro_random(10); i > 0; i--)
		KC(KC_VOID_REMOTE);
}

/* Closes the last handles, or revokes the view below before the other is revoked. */
static void
other(uintptr_t closes)
{
	if (closes) {
		soon();
	} else {
		run.is_begun = true;
		if (KC(KC_HANDLE_REVOKE, run.view[1]) == 0)
			watch();
	}
	for (unsigned i = 0; i < 2; i++)
		KC(KC_HANDLE_CLOSE, run.view[i]);
	for (unsigned i = 0; i < 3; i++)
		write_to_free(1);
	KC(KC_THREAD_EXIT, 0);
}

/* A page that is written to, a view of it, and one below that. */
static void
lend(bool watched)
{
	long memory = KC(KC_MEMORY_CREATE, 1);

	coro_check(memory > 0 && KC(KC_MEM_ALLOC, SELF, PAGE, 0, &shared.addr[0][0]) == 0);
	coro_check(KC(KC_PAGE_MAP, SELF, shared.addr[0][0], memory, 0, 1, RW) == 0);
	coro_user_store32((unsigned long)shared.addr[0][0], ++run.tags);
	coro_check(KC(KC_PAGE_UNMAP, SELF, shared.addr[0][0], 1) == 0);
	if (watched)
		coro_check(KC(KC_PAGE_MAP, SELF, WATCHED_AT, memory, 0, 1, RW) == 0);
	run.view[0] = (int)KC(KC_HANDLE_DUPLICATE, memory, SELF, RIGHTS_ALL | HANDLE_VIEW);
	run.view[1] = (int)KC(KC_HANDLE_DUPLICATE, run.view[0], SELF, RIGHTS_ALL | HANDLE_VIEW);
	coro_check(run.view[0] > 0 && run.view[1] > 0 && KC(KC_HANDLE_CLOSE, memory) == 0);
}

static void
reading_round(unsigned n)
{
	long proc = KC(KC_PROC_CREATE), given, thread;

	lend(n % 2 == 0);
	given = KC(KC_HANDLE_DUPLICATE, run.view[1], proc, RIGHT_READ | RIGHT_WRITE);
	coro_check(proc > 0 && given > 0);
	run.has_read = run.is_taken = run.is_begun = false;
	coro_user_context(&shared.ctx[1], reader, shared.stack[1][n % THREADS] + STACK_BYTES,
		(uintptr_t)given);
	coro_check(KC(KC_PROC_START, proc, &shared.ctx[1], ANY_CORE) == 0);
	while (!run.has_read)
		KC(KC_THREAD_YIELD);
	coro_user_context(&shared.ctx[0], other, shared.stack[0][n % THREADS] + STACK_BYTES, n % 2);
	thread = KC(KC_THREAD_CREATE, &shared.ctx[0], ANY_CORE);
	coro_check(thread > 0);
	if (n % 2 == 0)
		soon();
	run.is_begun = true;
	if (KC(KC_HANDLE_REVOKE, run.view[0]) == 0)
		n % 2 == 0 ? watch() : (void)0;
	else if (!run.is_taken)
		KC(KC_PROC_KILL, proc, 0);		/* the other was faster */
	while (KC(KC_PROC_WAIT, proc, &shared.ended, 1) == -E_TIMEDOUT)
		write_to_free(0);
	coro_check(KC(KC_HANDLE_CLOSE, proc) == 0);
	coro_check(KC(KC_THREAD_JOIN, thread, &shared.stats, FOREVER) == 0);
	if (n % 2 == 0)
		coro_check(KC(KC_PAGE_UNMAP, SELF, WATCHED_AT, 1) == 0);
	all_faults += shared.ended.cause == CRASH_ACCESS;
}

static void
lender(uintptr_t arg)
{
	uint64_t before = 0;

	(void)arg;
	for (unsigned n = 0; n < ROUNDS; n++) {
		reading_round(n);
		if (n == 0)
			before = pages();
	}
	for (unsigned i = 0; pages() != before; i++)
		coro_check(i < 1000);
	coro_finish(0);
}

static void
dump(void)
{
	printf("%u copies, %u views, %u memories, %u threads of init at work, %s\n", run.copies,
		run.views, run.tags, run.busy,
		run.stop ? "at the end" : "under way");
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {
		.name = "what_was_mapped_through_a_revoked_view_is_gone", .seeds = 1000,
		.shared = &shared, .shared_bytes = sizeof(shared), .main = program, .state = &run,
		.state_bytes = sizeof(run), .dump = dump};
	static const struct program_test reading = {
		.name = "what_is_read_until_the_fault_is_what_the_page_held", .seeds = 1000,
		.shared = &shared, .shared_bytes = sizeof(shared), .main = lender, .state = &run,
		.state_bytes = sizeof(run), .dump = dump};
	unsigned long count;

	program_is_init = true;
	count = program_seeds(&reading, argc, argv);
	if (count == 0)
		return 1;
	printf("ok %s (%lu seeds, %lu faults)\n", reading.name, count, all_faults);
	count = program_seeds(&test, argc, argv);
	if (count == 0)
		return 1;
	if (count >= 100 && (all_reached == 0 || all_gone == 0 || all_maybe == 0)) {
		printf("FAIL what_was_mapped_through_a_revoked_view_is_gone: nothing was ever "
			"revoked in the middle\n");
		return 1;
	}
	printf("ok what_was_mapped_through_a_revoked_view_is_gone (%lu seeds, %lu mappings; "
		"touches: %lu there, %lu gone, %lu in between)\n",
		count, all_mapped, all_reached, all_gone, all_maybe);
	return 0;
}
