/* SPDX-License-Identifier: MIT
 *
 * What threads and processes have done, for whoever asks (thread_stats), counted from the first
 * time that somebody does: all others pay nothing but a look, where they leave a core, at a word
 * that they look at when they come. Its own core counts a thread, in words that home reads. A
 * process is what its threads are, and those that have ended; when it has been asked for, its new
 * threads and those of the processes that it makes are counted from their start.
 */
#ifndef KERNEL_THREAD_COUNTS_H
#define KERNEL_THREAD_COUNTS_H

#include <base/tune.h>
#include <kernel/thread/thread.h>

/*
 * Words of what is counted, from RUN_SWITCHES on as in struct thread_counts; of two words the low
 * one comes first.
 */
enum run_count { RUN_NS, RUN_SWITCHES = 2, RUN_CALLS, RUN_PREEMPTED, RUN_FAULTS, RUN_MOVES,
	RUN_COUNTS };

#define RUN_IS_ON 2u

struct run_counts {
	/*
	 * Shared words, own core's, but RUN_FAULTS and RUN_MOVES are home's. `version` is odd while
	 * RUN_NS changes: who reads the same even one before and behind has read what belongs
	 * together. RUN_IS_ON of it says that the thread runs. RUN_NS is the sum of the times when
	 * runs ended less that of the times when they began: of a thread that runs, the time is
	 * missing.
	 */
	uint32_t version;
	uint32_t word[RUN_COUNTS];
	uint64_t begun_ns;		/* home */
};

/* Own core: the thread goes to the user, or is there and is counted from now on. */
void counts_begin(struct thread *t);

/* Own core: it leaves the core, by itself (RUN_SWITCHES) or not (RUN_PREEMPTED). */
void counts_end(struct thread *t, enum run_count more);

/* Own core: it has sent home a message; its upcalls say that it is counted. */
hot_inline void
counts_call(struct thread *t)
{
	struct run_counts *c;

	hal_acquire(&t->counts, sizeof(t->counts));
	c = t->counts;
	hal_store32(&c->word[RUN_CALLS], hal_peek32(&c->word[RUN_CALLS]) + 1);
	core_counts(core_self(), CORE_CALLS);
	if (unlikely((hal_peek32(&c->version) & RUN_IS_ON) == 0))
		counts_begin(t);
}

hot_inline void
counts_look(struct thread *t, enum run_count more)
{
	if (unlikely(thread_upcall(t) != 0))
		counts_end(t, more);
}

/* Home: a fault that the thread's own handler does not serve, or that it goes to another core. */
void counts_home(struct thread *t, enum run_count what);

/*
 * Home: the counts of a thread, which begin now if nobody has asked for them. NULL: no memory, it
 * is not counted.
 */
struct run_counts *counts_make(struct thread *t);

/* Home: a counted thread has ended, and runs no more. */
void counts_keep(struct thread *t);

#endif
