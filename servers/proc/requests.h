/* SPDX-License-Identifier: MIT
 *
 * What programs ask the process server for (client.h).
 */
#ifndef SERVERS_PROC_REQUESTS_H
#define SERVERS_PROC_REQUESTS_H

#include <servers/proc/agent.h>

/* Begin to listen at PROCESS_PORT. 0 or -E_NAME. */
int requests_begin(struct agent *a);

/*
 * Serve some requests, or sleep until there are any or a bit of the server's own is set: such bits.
 */
uint32_t requests_serve(void);

/* Processes may have ended (BIT_CHILD): their parents hear of it. */
void requests_reap(void);

/* The cluster's part of a job is over, and with it what the job has started here. */
void requests_end_part(const struct proc_status *status);

#endif
