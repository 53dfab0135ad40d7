/* SPDX-License-Identifier: MIT
 *
 * The list of a cluster's processes, for whoever asks: what each is, and what it has done.
 */
#ifndef SERVERS_PROC_LISTING_H
#define SERVERS_PROC_LISTING_H

#include <servers/proc/agent.h>

/*
 * The answer to PROCESS_LIST. Behind the answer, at `out`, so many bytes; 0: there is none.
 */
uint32_t listing_put(struct agent *a, const struct process_request *q, struct process_reply *r,
	void *out);

#endif
