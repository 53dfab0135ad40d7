/* SPDX-License-Identifier: MIT
 *
 * The personality of a process (user/personality): mapped beside the program where the boot archive
 * has one.
 */
#ifndef SERVERS_PROC_PERSONALITY_H
#define SERVERS_PROC_PERSONALITY_H

#include <atoll/personality.h>

/*
 * Addresses in `proc` for the personality, and for `bytes` of the process's control block behind
 * its data, so that a parent hands on both at once (user/personality/fork.c): what->image and
 * what->control, which stay 0 if the archive has none. 0 or -E_NAME.
 */
int personality_place(int proc, uint64_t bytes, struct personality_info *what);

/*
 * Map the personality into `proc` and tell the kernel. What it is to know is in `what`, but for
 * what the loader finds out itself: stack_top and page_bytes. what->stacks threads start with it;
 * more of them get their stacks from the personality itself. 0, also if the archive has none, or
 * -E_NAME.
 */
int personality_map(int proc, const struct personality_info *what);

#endif
