/* SPDX-License-Identifier: MIT
 *
 * What the kernel calls on memory share. They run on the calling core and loop over messages to home (kernel/mem/mem.h).
 */
#ifndef KERNEL_MEM_CALLS_H
#define KERNEL_MEM_CALLS_H

#include <kernel/cluster.h>

#define MEM_ARGS 6

/* Have home run fn with these arguments, which hold what it left there afterwards. */
long mem_home(struct thread *caller, kcall_serve_fn *fn, unsigned long *a);

/* The same, again as long as that returns -E_AGAIN. */
long mem_steps(struct thread *caller, kcall_serve_fn *fn, unsigned long *a);

bool prot_is_valid(int prot);

/* A call has failed: take the range back, and everything that is mapped there. Like page_unmap, but what the call then returns is `error`. */
long page_take_back(struct thread *caller, int proc, uintptr_t start, uintptr_t end, long error);

#endif
