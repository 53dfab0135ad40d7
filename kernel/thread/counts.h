/* SPDX-License-Identifier: MIT
 *
 * What a thread has done, for whoever asks (thread_stats), counted from the first time that
 * somebody does: all others pay nothing but a look, where they leave a core, at a word that they
 * look at when they come. Its own core counts, in words that home reads.
 */
#ifndef KERNEL_THREAD_COUNTS_H
#define KERNEL_THREAD_COUNTS_H

#include <base/tune.h>
#include <kernel/thread/thread.h>

/* Words of what its own core counts; of two words the low one comes first. */
enum run_count { RUN_NS, RUN_SINCE = 2, RUN_SWITCHES = 4, RUN_CALLS, RUN_COUNTS };

struct run_counts {
	/*
	 * Own core, word by word. `version` is odd while it writes: who reads the same even one
	 * before and behind has read what belongs together. RUN_NS: of all runs that are over;
	 * RUN_SINCE: of the run that is not, 0: it does not run.
	 */
	uint32_t version;
	uint32_t word[RUN_COUNTS];
	/* home */
	uint32_t faults;
	uint64_t begun_ns;
};

/* Own core: the thread goes to the user, or leaves the core. */
void counts_begin(struct thread *t);
void counts_end(struct thread *t);

/* Own core: it has sent home a message. */
void counts_call(struct thread *t);

hot_inline void
counts_look(struct thread *t)
{
	if (unlikely(thread_upcall(t) != 0))
		counts_end(t);
}

/* Home: a fault that the thread's own handler does not serve. */
hot_inline void
counts_fault(struct thread *t)
{
	if (unlikely(t->counts != NULL))
		t->counts->faults++;
}

#endif
