/* SPDX-License-Identifier: MIT
 *
 * What threads have done: see counts.h. Source: seed 000 III-B (threads).
 */
#include <hal/timer.h>
#include <kernel/call/kcall_core.h>
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

static uint64_t
time_at(const struct run_counts *c, enum run_count at)
{
	return hal_load32(&c->word[at]) | (uint64_t)hal_load32(&c->word[at + 1]) << 32;
}

static void
time_put(struct run_counts *c, enum run_count at, uint64_t ns)
{
	hal_store32(&c->word[at], (uint32_t)ns);
	hal_store32(&c->word[at + 1], (uint32_t)(ns >> 32));
}

/* Begin to write, and end it. */
static void
next_version(struct run_counts *c)
{
	hal_store32(&c->version, hal_peek32(&c->version) + 1);
}

/* The thread runs from now on, or does not any more; one is added to a count. */
static void
change(struct run_counts *c, uint64_t since, enum run_count more)
{
	uint64_t began = time_at(c, RUN_SINCE);

	next_version(c);
	if (began != since) {
		if (since == 0)
			time_put(c, RUN_NS, time_at(c, RUN_NS) + hal_clock_ns() - began);
		time_put(c, RUN_SINCE, since);
	}
	if (more != RUN_COUNTS)
		hal_store32(&c->word[more], hal_peek32(&c->word[more]) + 1);
	next_version(c);
}

void
counts_begin(struct thread *t)
{
	struct run_counts *c = counts_of(t);

	if (c != NULL)
		change(c, hal_clock_ns(), RUN_SWITCHES);
}

void
counts_end(struct thread *t)
{
	struct run_counts *c = counts_of(t);

	if (c != NULL)
		change(c, 0, RUN_COUNTS);
}

void
counts_call(struct thread *t)
{
	struct run_counts *c = counts_of(t);

	if (c == NULL)
		return;
	change(c, time_at(c, RUN_SINCE), RUN_CALLS);
	core_counts(core_self(), CORE_CALLS);
}

/* --- home --- */

/* The counts of a thread, which begin now if nobody has asked for them. NULL: no memory. */
static struct run_counts *
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

/*
 * kc_thread_stats: what a thread (RIGHT_READ) has done (struct thread_counts) since somebody asked
 * for it first; that call begins to count. What a thread does at the moment counts when a core has
 * taken it up since. Runs: home. Returns 0; -E_BADF; -E_ACCES; -E_SRCH: it has ended; -E_NOMEM;
 * -E_NOSYS: a thread of the host's; -E_AGAIN: its core was writing them down, ask again.
 */
long
kc_thread_stats(struct thread *caller, int thread, void *counts)
{
	struct thread_counts out;
	struct run_counts *c;
	struct thread *t;
	uint32_t version;
	uint64_t since;
	int e = thread_named(caller, thread, RIGHT_READ, &t);

	if (e != 0)
		return e;
	if (t->core->id >= t->cluster->cores)
		return -E_NOSYS;
	c = counts_make(t);
	if (c == NULL)
		return -E_NOMEM;
	version = hal_load32(&c->version);
	since = time_at(c, RUN_SINCE);
	out = (struct thread_counts){.run_ns = time_at(c, RUN_NS), .begun_ns = c->begun_ns,
		.switches = hal_load32(&c->word[RUN_SWITCHES]),
		.calls = hal_load32(&c->word[RUN_CALLS]),
		.faults = c->faults, .core = t->core->id};
	if ((version & 1) != 0 || hal_load32(&c->version) != version)
		return -E_AGAIN;
	if (since != 0)
		out.run_ns += hal_clock_ns() - since;
	__builtin_memcpy(counts, &out, sizeof(out));
	return 0;
}
