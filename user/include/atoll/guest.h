/* SPDX-License-Identifier: MIT
 *
 * Threads that a program made. Where its libc makes threads of the system's (riscv64), there is
 * nothing to do. On the hosted port they are Linux threads: each becomes a guest of the kernel
 * before its first kernel call (hal/guest.h), and the program's first thread, which shares its core
 * with other ranks, must not hold that up while it waits in libc for another thread.
 */
#ifndef ATOLL_GUEST_H
#define ATOLL_GUEST_H

#include <stdbool.h>

/*
 * Before other threads than the first one make kernel calls. From here on, where the first thread
 * waits in libc (to join a thread, for a mutex, a condition variable, a semaphore), its core goes
 * on with other threads. `ranks`: so many of the cluster may do so. False: threads of the program
 * cannot make kernel calls, for the cluster has too little room for that many.
 */
bool guests_admit(unsigned ranks);

/*
 * The calling thread may make kernel calls, until it ends. 0; -E_NOSPC: too many threads do;
 * -E_NOMEM; -E_SRCH: the process is ending.
 */
int guest_enter(void);

#endif
