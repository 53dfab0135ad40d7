/* SPDX-License-Identifier: MIT
 *
 * Limits of a process (setrlimit), which its children begin with: of the time that it runs, of its
 * addresses, descriptors, files, and of the processes of its tree. What a limit of nothing that is
 * there says is kept, and can be asked. None can be raised above the highest that it may have.
 */
#ifndef USER_PERSONALITY_LIMITS_H
#define USER_PERSONALITY_LIMITS_H

#include <user/personality/personality.h>

struct inherit;
struct usage;

/* Linux's numbers; those that are not here limit nothing that is there */
#define RLIMIT_CPU 0			/* seconds */
#define RLIMIT_FSIZE 1
#define RLIMIT_DATA 2
#define RLIMIT_STACK 3
#define RLIMIT_NPROC 6
#define RLIMIT_NOFILE 7
#define RLIMIT_AS 9
#define RLIM_INFINITY UINT64_MAX

/* The one in force. */
uint64_t limits_now(const struct handler_event *c, unsigned which);

/* May so many bytes of addresses more be used? With the lock of the memory. */
bool limits_allow(const struct handler_event *c, uint64_t bytes);

/* Processes that the tree may have; 0: any number. */
uint32_t limits_processes(const struct handler_event *c);

long limits_call(const struct handler_event *c);

/*
 * With the descriptors' lock: how many of `len` bytes may be written to what is open at an offset,
 * as files_write has it; or -FILE_EFBIG. Of no bytes: may a file get that length? Without the lock:
 * the result of the call, of which a signal tells if it is that.
 */
long limits_room(uint32_t handle, uint64_t offset, uint64_t len);
long limits_tell(long result);

/*
 * How long, in nanoseconds, the process may run until something happens, FOREVER: for ever; a
 * signal that it gets now, or 0.
 */
uint64_t limits_time_left(const struct handler_event *c, const struct usage *u, int *sig);

/* What another program begins with, behind what else it inherits: bytes; and takes. */
uint32_t limits_bytes(uint32_t changed);
void limits_put(struct inherit *b);
void limits_take(const struct handler_event *c, const struct inherit *b);

#endif
