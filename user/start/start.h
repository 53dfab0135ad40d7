/* SPDX-License-Identifier: MIT
 *
 * Inside of the start-up code.
 */
#ifndef USER_START_START_H
#define USER_START_START_H

struct startup;

/* Remember the start-up record; kernel calls work from here on. */
void startup_set(const struct startup *s);

/* The CPU's part of it. */
void startup_cpu(const struct startup *s);

/*
 * C entry of a server: `arg` is the address of the start-up record or 0, then the auxiliary vector
 * on `stack` names it.
 */
_Noreturn __attribute__((visibility("hidden"))) void start_server(unsigned long arg,
	unsigned long *stack);

#endif
