/* SPDX-License-Identifier: MIT
 *
 * What threads have done: see counts.h. Source: seed 000 III-B (threads).
 */
#include <hal/timer.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/alarm.h>
#include <kernel/thread/counts.h>

/* --- its own core --- */

/* NULL: it is not counted, or not yet. */
static struct run_counts *
counts_of(struct thread *t)
{
	if ((thread_upcall(t) & UPCALL_COUNT) == 0)
		return NULL;
	hal_acquire(&t->counts, sizeof(t->counts));
	return t->counts;
}

static void
one_more(uint32_t *word)
{
	hal_store32(word, hal_peek32(word) + 1);
}

static bool
is_running(const struct run_counts *c)
{
	return (hal_peek32(&c->version) & RUN_IS_ON) != 0;
}

static uint64_t
time_at(const struct run_counts *c)
{
	return hal_load32(&c->word[RUN_NS]) | (uint64_t)hal_load32(&c->word[RUN_NS + 1]) << 32;
}

/* It runs from now on, or it does not any more. */
static void
run_turn(struct run_counts *c)
{
	bool ends = is_running(c);
	uint64_t now, ns;

	/* who sees the old version has looked at the clock before we do */
	one_more(&c->version);
	hal_fence();
	now = hal_clock_ns();
	ns = time_at(c) + (ends ? now : -now);
	hal_store32(&c->word[RUN_NS], (uint32_t)ns);
	hal_store32(&c->word[RUN_NS + 1], (uint32_t)(ns >> 32));
	one_more(&c->version);
}

/* It does not run any more, if `ends`, or else it does; unless that is so already. */
static struct run_counts *
run_look(struct thread *t, bool ends)
{
	struct run_counts *c = counts_of(t);

	if (c != NULL && is_running(c) == ends)
		run_turn(c);
	return c;
}

void
counts_begin(struct thread *t)
{
	run_look(t, false);
}

void
counts_end(struct thread *t, enum run_count more)
{
	struct run_counts *c = run_look(t, true);

	if (c != NULL)
		one_more(&c->word[more]);
}

/* --- home --- */

struct run_counts *
counts_make(struct thread *t)
{
	struct handler_record *made = handler_record(t);

	if (made == NULL || t->counts != NULL)
		return t->counts;
	made->counts.begun_ns = hal_clock_ns();
	hal_publish(&made->counts, sizeof(made->counts));
	t->counts = &made->counts;
	hal_publish(&t->counts, sizeof(t->counts));
	upcall_change(t, UPCALL_COUNT, 0);
	hal_fence();		/* home looks next at words that it has written as a record */
	return t->counts;
}

void
counts_home(struct thread *t, enum run_count what)
{
	if (t->counts != NULL)
		one_more(&t->counts->word[what]);
}

/* Add what a counted thread has done. False: its core is writing that down. */
static bool
counts_add(struct thread_counts *sum, const struct run_counts *c)
{
	uint32_t version = hal_load32(&c->version);
	uint64_t ns = time_at(c);

	if ((version & RUN_IS_ON) != 0)
		ns += hal_clock_ns();
	hal_fence();		/* its core has not looked at the clock by now */
	if ((version & 1) != 0 || hal_load32(&c->version) != version)
		return false;
	sum->run_ns += ns;
	for (int i = 0; i < RUN_COUNTS - RUN_SWITCHES; i++)
		sum->count[i] += hal_load32(&c->word[RUN_SWITCHES + i]);
	return true;
}

void
counts_keep(struct thread *t)
{
	counts_add(&t->proc->counts, t->counts);
	t->proc->counts.ended++;
}

/*
 * Add what a thread has done since somebody asked first; if that is now, its core shall know. 0 or
 * an error of kc_thread_stats.
 */
static int
thread_add(struct thread_counts *sum, const struct thread *caller, struct thread *t)
{
	bool is_new = t->counts == NULL;

	if (t->core->id >= t->cluster->cores)
		return -E_NOSYS;
	if (counts_make(t) == NULL)
		return -E_NOMEM;
	if (is_new && t != caller && t->state == THREAD_READY)
		core_interrupt(t->core);
	sum->core = t->core->id;
	sum->threads++;
	return counts_add(sum, t->counts) ? 0 : -E_AGAIN;
}

/* Places of the table that one message looks at, and what a thread that is counted is as much as */
#define PLACES_PER_STEP 64
#define PLACES_OF_THREAD 8

/* May there be more threads of the process, from a place of the table on? */
static bool
is_more(const struct cluster *c, const struct thread_counts *sum, const struct process *p,
	uint32_t place)
{
	return sum->threads != p->live && place < c->threads_used;
}

/* The same for threads of a process, from a place of the table on. The next place, 0: all. */
static long
process_add(struct thread_counts *sum, const struct thread *caller, struct process *p,
	uint32_t place)
{
	const struct cluster *c = caller->cluster;

	if (p->counts.begun_ns == 0)
		p->counts.begun_ns = hal_clock_ns();
	if (place == 0)
		*sum = p->counts;
	sum->begun_ns = p->counts.begun_ns;
	sum->ended = p->counts.ended;
	sum->pages = p->frames;
	for (unsigned n = 0; n < PLACES_PER_STEP && is_more(c, sum, p, place); n++, place++) {
		struct thread *t = thread_at(c, place);
		int e;

		if (t == NULL || t->proc != p || !thread_lives(t))
			continue;
		e = thread_add(sum, caller, t);
		if (e != 0 && e != -E_NOSYS)
			return e;
		n += PLACES_OF_THREAD;
	}
	return is_more(c, sum, p, place) ? (long)place : 0;
}

/*
 * kc_thread_stats: what a thread of the own process (RIGHT_READ) has done (struct thread_counts)
 * since somebody asked for it first; that call begins to count. Or, of a process (RIGHT_READ), what
 * some of its threads have done, from place 0 on with those that have ended: a result that is not 0
 * is the place from which the next ones are to be asked for, and to be added. If `ended` differs
 * then, one has ended in between, and the sum begins anew. Runs: home. Returns that; -E_BADF;
 * -E_ACCES; -E_SRCH: it has ended; -E_NOMEM; -E_NOSYS: a thread of the host's; -E_AGAIN: a core was
 * writing them down, ask again.
 */
long
kc_thread_stats(struct thread *caller, int object, uint32_t place, void *counts)
{
	struct thread_counts *sum = counts;
	struct process *p;
	struct thread *t;
	long e = thread_named(caller, object, RIGHT_READ, &t);

	__builtin_memset(sum, 0, sizeof(*sum));
	if (e == 0) {
		e = thread_add(sum, caller, t);
		if (e == 0)
			sum->begun_ns = t->counts->begun_ns;
	} else if (e == -E_BADF) {
		e = proc_find(caller, object, RIGHT_READ, &p);
		if (e == 0)
			e = process_add(sum, caller, p, place);
	}
	return e;
}
