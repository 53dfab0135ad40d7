/* SPDX-License-Identifier: MIT
 *
 * Processes of the cluster get cores of their own without anybody's wish for one (provision.h), in
 * clusters with more than two cores, unless somebody has said that they shall not.
 */
#ifndef SERVERS_PROC_PROVIDE_H
#define SERVERS_PROC_PROVIDE_H

#include <servers/proc/agent.h>

/*
 * Do what is due. The server sleeps until *until at the longest, which is earlier now if there is
 * something to look at. Costs nothing where a handful of processes run.
 */
void provide_step(struct agent *a, uint64_t *until);

/*
 * PROCESS_CORE (client.h), whose asker may ask that: a role, whether processes are moved, or
 * nothing else than what is told. The bytes of the answer, or -E_NAME.
 */
int provide_ask(const struct process_request *q, void *out);

#endif
