/* SPDX-License-Identifier: MIT
 *
 * The roles of cores, changed at run time. Home gives a core its role: from then on threads are
 * placed there, or not, and those that have to leave are on their way; and it tells the core, at
 * once or when that has looked at the message before this one. The core acts in its new role
 * (core->acts) when it has heard of it: a TC arms a tick where threads compete, an AC and a KC
 * never do. Between the two a core may still run a thread that leaves at once, and be interrupted
 * for nothing.
 */
#ifndef KERNEL_THREAD_ROLE_H
#define KERNEL_THREAD_ROLE_H

#include <kernel/cluster.h>

/*
 * Home: a thread has come to its core. An AC that has threads of another process is a TC from now
 * on, so that both get on, until it has none, for 100 ms at least: unless somebody has said that
 * the thread runs there.
 */
void role_crowd(const struct thread *t);

/* Home: the last thread has left a core that is_crowded: it is an AC again, if it may be. */
void role_empty(struct core *core);

/* Home: from now on the core is for something else, as it knows itself, and is_crowded no more. */
void role_set(struct core *core, uint32_t role);

/* Home: tell cores of their roles. False: nobody could be told. */
bool roles_poll(struct cluster *c);

#endif
