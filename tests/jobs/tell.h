/* SPDX-License-Identifier: MIT
 *
 * Messages from rank to rank of jobs that test themselves. Each rank listens on the port of its
 * place, `base_port + local_rank`.
 */
#ifndef TESTS_JOBS_TELL_H
#define TESTS_JOBS_TELL_H

#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include "expect.h"

static inline const struct placement *
place_of(uint32_t rank)
{
	return (const struct placement *)(uintptr_t)atoll_startup()->placement + rank;
}

/* Send an empty message. */
static inline void
tell(uint32_t rank)
{
	static const char message[MAILBOX_MSG_SIZE];
	long out = kmailbox_open(place_of(rank)->cluster,
		(int)atoll_startup()->base_port + place_of(rank)->local_rank);

	expect(mailbox_send((int)out, message), 0, "send");
	khandle_close((int)out);
}

/* Wait for a message, from whatever rank. */
static inline void
hear(int in)
{
	char message[MAILBOX_MSG_SIZE];

	expect(mailbox_receive(in, ANY_SOURCE_CLUSTER, message), 0, "receive");
}

#endif
