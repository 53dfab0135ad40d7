/* SPDX-License-Identifier: MIT
 *
 * Can what the program points to be reached? A look at each page of it, whose fault goes on behind
 * the look (HANDLE_FIXUP), so that a call with a bad address is EFAULT. What another thread takes
 * away between the look and the use is a fault, and the process ends by it.
 */
#ifndef USER_PERSONALITY_REACH_H
#define USER_PERSONALITY_REACH_H

#include <user/personality/personality.h>

/* In a process the faults of these looks go on behind them. */
long reach_begin(int proc);

/*
 * `bytes` bytes at an address: 0 or -E_FAULT. Pages that come when they are touched come; to be
 * written is looked at by writing what is there.
 */
int reach_read(uint64_t at, uint64_t bytes);
int reach_write(uint64_t at, uint64_t bytes);

/* A text with its end: 0; -E_FAULT; -LINUX_ENAMETOOLONG: no end within PATH_MAX. */
int reach_text(uint64_t at);

/* A list of texts that ends with a null pointer, or is one itself. 0 or -E_FAULT. */
int reach_texts(uint64_t at);

/*
 * What the arguments of a call point to, as far as it has one size: for each call the table in
 * reach.c. The first thing that is done in a call. 0; -E_FAULT; -LINUX_ENAMETOOLONG.
 */
long reach_arguments(const struct handler_event *c, unsigned long nr);

#endif
