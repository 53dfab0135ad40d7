/* SPDX-License-Identifier: MIT
 *
 * The limits of a job (job.h), which all its processes in this cluster have together, with the
 * buffers and the shared memory that were made for them (shared.h). What they have not taken yet is
 * divided among them in equal parts, again whenever there is one more or one less: so they cannot
 * take more by being many.
 */
#ifndef SERVERS_PROC_LIMITS_H
#define SERVERS_PROC_LIMITS_H

#include <servers/proc/agent.h>

void limits_begin(struct agent *a);

/*
 * Divide. `more`: a process that is none of a member's yet, and has nothing yet; 0: there is none.
 * 0; -E_NOMEM: its part would be too small to begin with; or what proc_quota says.
 */
int limits_divide(int more);

/* Pages that may be shared, or be buffers, beside those that the job has. */
uint32_t limits_pages(uint32_t job);

#endif
