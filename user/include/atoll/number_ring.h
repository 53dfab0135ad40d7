/* SPDX-License-Identifier: MIT
 *
 * A part of the handles of tubes and of queues of calls.
 */
#ifndef ATOLL_NUMBER_RING_H
#define ATOLL_NUMBER_RING_H

#include <stdint.h>

struct number_ring {
	uint32_t *entry;
	uint32_t mask;			/* of a number in the ring: its entry */
	uint32_t numbers;		/* the largest that is put there */
};

#endif
