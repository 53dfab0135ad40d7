/* SPDX-License-Identifier: MIT
 *
 * What a thread has done, for whoever asks (thread_stats), counted from the first time that somebody
 * does: all others pay nothing but a look, where they leave a core, at a word that they look at when
 * they come. Its own core counts, and writes down for home, behind each run, what it has counted.
 */
#ifndef KERNEL_THREAD_COUNTS_H
#define KERNEL_THREAD_COUNTS_H

#include <base/tune.h>
#include <kernel/thread/thread.h>

struct run_counts {
	/* own core; home reads what was published last */
	uint64_t run_ns;	/* of all runs that are over */
	uint64_t since;		/* of the run that is not; 0: it does not run */
	uint32_t switches;
	uint32_t calls;
	uint32_t check;		/* of all that, so that nobody reads half of it */
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
