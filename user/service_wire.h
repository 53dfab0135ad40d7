/* SPDX-License-Identifier: MIT
 *
 * The message by which a client offers its channel to a service. What the server answers in the
 * channel is a number: 0, or a negative error.
 */
#ifndef USER_SERVICE_WIRE_H
#define USER_SERVICE_WIRE_H

#include <stdint.h>
#include <abi/limits.abi.h>

struct service_open {
	uint32_t magic;			/* of the service */
	uint32_t number;		/* of the channel */
	uint32_t rest[MAILBOX_MSG_SIZE / sizeof(uint32_t) - 2];
};

_Static_assert(sizeof(struct service_open) == MAILBOX_MSG_SIZE, "one message");

#endif
