/* SPDX-License-Identifier: MIT
 *
 * Requests to the memory servers and their answers, by a channel (atoll/service.h): each cluster of
 * a machine that was started so has one, which gives pages of that cluster's memory to programs of
 * all clusters.
 *
 * Pages are given in regions. A region is used by the client that has asked for it, and by others
 * that have attached it; it ends when each of these has freed it, or has gone. The number of its
 * first page names it, and what lies in it has the numbers that follow.
 *
 * A request is a struct rmem_request, an answer a struct rmem_reply, and RMEM_MOVE has the bytes of
 * a page behind either.
 */
#ifndef SERVERS_RMEM_PROTOCOL_H
#define SERVERS_RMEM_PROTOCOL_H

#include <stdint.h>
#include <atoll/rmem.h>

#define RMEM_PORT 6
#define RMEM_MAGIC 0x4d454d52u			/* "RMEM" */
#define RMEM_MESSAGE (RMEM_PAGE + (uint32_t)sizeof(struct rmem_request))
/* a struct service_kind */
#define RMEM_SERVICE(of_cluster) {.magic = RMEM_MAGIC, .message = RMEM_MESSAGE, \
	.cluster = (of_cluster), .port = RMEM_PORT, .pages = RMEM_CHANNEL_PAGES}
#define RMEM_SERVER "bin/rmem"			/* in the boot archive */

#define RMEM_REGIONS 256u			/* of a server */
#define RMEM_NO_PAGE 0u				/* no page has this number */

enum rmem_op {
	RMEM_ALLOC = 1,		/* pages -> the first page of a region of zeros */
	RMEM_FREE = 2,		/* put: the first page of a region that this client uses no more */
	/*
	 * put: the first page of a region that a client of the same badge uses -> its pages: this
	 * client uses it, too
	 */
	RMEM_ATTACH = 3,
	/*
	 * put: a page, which becomes what follows, or none; get: a page that is answered then, or
	 * none
	 */
	RMEM_MOVE = 4,
};

struct rmem_request {
	uint32_t op;
	uint32_t pages;
	uint32_t put, get;
};

struct rmem_reply {
	int32_t result;		/* 0 or a negative error */
	uint32_t page;		/* RMEM_ALLOC; RMEM_ATTACH: how many */
};

#endif
