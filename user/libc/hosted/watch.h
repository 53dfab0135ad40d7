/* SPDX-License-Identifier: MIT
 *
 * A thread that waits in Linux on behalf of the first one.
 */
#ifndef USER_LIBC_HOSTED_WATCH_H
#define USER_LIBC_HOSTED_WATCH_H

#include <pthread.h>
#include <stdbool.h>

/* From here on the waits in libc of the first thread, which the system knows as `tid`, are handed over. False: no thread for that. */
bool watch_start(pthread_t first, int tid);

#endif
