/* SPDX-License-Identifier: MIT
 *
 * The first thread of a rank, which shares a core of the kernel, and the thread that waits in Linux
 * on its behalf.
 */
#ifndef USER_LIBC_HOSTED_WATCH_H
#define USER_LIBC_HOSTED_WATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/*
 * From here on the waits in libc of the first thread, which the system knows as `tid`, are handed
 * over. False: no thread for that.
 */
bool watch_start(pthread_t first, int tid);

/* Time left until `at`; negative seconds: none. */
struct timespec watch_time_left(clockid_t clock, const struct timespec *at);

/* Is the caller the first thread of a rank, which a core of the kernel runs? (guest.c) */
bool guest_is_first_thread(void);

#endif
