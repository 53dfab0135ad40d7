/* SPDX-License-Identifier: MIT
 *
 * The personality of a process (user/personality): mapped beside the program where the boot archive
 * has one.
 */
#ifndef SERVERS_PROC_PERSONALITY_H
#define SERVERS_PROC_PERSONALITY_H

#include <stdint.h>

/*
 * Map the personality into `proc` and tell the kernel. `threads`: how many threads start with it;
 * more of them get their stacks from the personality itself. `control`: address of the process's
 * struct job_control. 0, also if the archive has none, or -E_NAME.
 */
int personality_map(int proc, uint32_t threads, uint64_t control);

#endif
