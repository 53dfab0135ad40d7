/* SPDX-License-Identifier: MIT
 *
 * Cores of the cluster: what they are for, and which of them processes were given.
 */
#ifndef SERVERS_PROC_CORES_H
#define SERVERS_PROC_CORES_H

#include <servers/proc/agent.h>

/*
 * Which core a process gets that is to run at `wish` (PROCESS_CORE_*, or a core): its number in the
 * cluster and 1, or 0: any of its job's. `m` is the process, NULL: one that is not there yet.
 * -FILE_ENODEV; -E_BUSY: see process_move.
 */
int cores_choose(const struct agent *a, const struct member *m, int32_t wish);

/*
 * A process (handle) is on the core that cores_choose has said, with all the threads that it has
 * and gets. 0 or -E_NAME.
 */
long cores_set(const struct agent *a, int proc, int core);

/* The same for a new process, which has all cores, as this server does. */
long cores_begin(const struct agent *a, int proc, int core);

/* Move a member that runs to where it is to run. What process_move says. */
int cores_move(const struct agent *a, struct member *m, int32_t wish);

/*
 * What a core does, in `out`, after it has got a role that is not negative. 0 or -E_NAME.
 */
int cores_ask(int core, int role, struct core_info *out);

#endif
