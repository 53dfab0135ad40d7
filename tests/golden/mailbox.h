/* SPDX-License-Identifier: MIT
 *
 * The naive mailbox, oracle of the randomised tests: per input port a place for one message of each
 * sending cluster. What is written is there, what is read is gone; nothing happens at the same time
 * as anything else.
 */
#ifndef GOLDEN_MAILBOX_H
#define GOLDEN_MAILBOX_H

#include <stdbool.h>

#define GOLDEN_SENDERS 64
#define GOLDEN_AGAIN (-1)

struct golden_mailbox {
	bool full[GOLDEN_SENDERS];
	int message[GOLDEN_SENDERS];
};

static inline void
golden_mailbox_init(struct golden_mailbox *m)
{
	for (int i = 0; i < GOLDEN_SENDERS; i++)
		m->full[i] = false;
}

static inline int
golden_mailbox_write(struct golden_mailbox *m, int sender, int message)
{
	if (m->full[sender])
		return GOLDEN_AGAIN;
	m->full[sender] = true;
	m->message[sender] = message;
	return 0;
}

static inline int
golden_mailbox_read(struct golden_mailbox *m, int sender, int *message)
{
	if (!m->full[sender])
		return GOLDEN_AGAIN;
	m->full[sender] = false;
	*message = m->message[sender];
	return 0;
}

static inline bool
golden_mailbox_is_empty(const struct golden_mailbox *m)
{
	for (int i = 0; i < GOLDEN_SENDERS; i++)
		if (m->full[i])
			return false;
	return true;
}

#endif
