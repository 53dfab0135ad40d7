/* SPDX-License-Identifier: MIT
 *
 * The terminal, process groups and sessions: see terminal.c.
 */
#ifndef USER_PERSONALITY_TERMINAL_H
#define USER_PERSONALITY_TERMINAL_H

#include <user/personality/files.h>

/* Is a stream one, for the caller? */
bool terminal_is_stream(const struct handler_event *c, uint32_t stream);

/*
 * May the caller read it? 0; -CALL_RESTART: it is in the background, and has a signal for that;
 * -E_IO: it does not care.
 */
long terminal_check_reader(const struct handler_event *c, uint32_t stream);

/* ioctl, with the lock held. */
long terminal_ioctl(const struct handler_event *c, const struct opened *o);

/* setpgid and so on. */
long terminal_group_call(const struct handler_event *c, unsigned long nr);

#endif
