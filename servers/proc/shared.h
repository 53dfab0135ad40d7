/* SPDX-License-Identifier: MIT
 *
 * Memory that processes of this cluster share by the name of a file: the file server has it made,
 * reads and writes it, and ends it; processes of this cluster get handles of it. It is named by a
 * key that only those know who have opened the file.
 */
#ifndef SERVERS_PROC_SHARED_H
#define SERVERS_PROC_SHARED_H

#include <servers/proc/client.h>

/* A request, copied, and the bytes behind it. */
struct shared_asked {
	const struct process_request *q;
	const void *data;
	uint32_t bytes;
	bool is_server;			/* the file server asks: */
	uint32_t client, home;		/* of that cluster */
	int proc;			/* handle of who asks; -1: of another cluster */
	int to;				/* LEND: of who is to have it; -1: there is none */
	uint32_t job;			/* MAKE: whose limit counts it; 0: nobody's */
};

/* PROCESS_MEMORY. 0 or a negative error; *out_bytes at `out` follow the answer. */
int shared_serve(const struct shared_asked *s, struct process_reply *r, void *out,
	uint32_t *out_bytes);

/* What a job has of it. */
uint32_t shared_pages(uint32_t job);

/* A client is gone. If it was the file server, its memory waits for the next one. */
void shared_client_gone(uint32_t client);

#endif
