/* SPDX-License-Identifier: MIT
 *
 * What the unit tests of mailboxes share: calls by thread and handle, and the message read last.
 */
#ifndef KERNEL_IKC_MAILBOX_TEST_H
#define KERNEL_IKC_MAILBOX_TEST_H

#include <kernel/ikc/fake.h>

static char msg[MAILBOX_MSG_SIZE];

static inline int
input(struct thread *t, int port)
{
	return (int)call(t, kc_mailbox_create(t, port));
}

static inline int
output(struct thread *t, int cluster, int port)
{
	return (int)call(t, kc_mailbox_open(t, cluster, port));
}

static inline long
write_to(struct thread *t, int id, int n)
{
	long result = call(t, kc_mailbox_write(t, id, text(n)));

	pump();
	return result;
}

static inline long
read_any(struct thread *t, int id)
{
	long result = call(t, kc_mailbox_read(t, id, ANY_SOURCE_CLUSTER, msg, fake_sender()));

	pump();
	return result;
}

static inline long
wait_on(struct thread *t, int id)
{
	return call(t, kc_mailbox_wait(t, id, ANY_SOURCE_CLUSTER));
}

static inline bool
is_text(int n)
{
	return memcmp(msg, text(n), MAILBOX_MSG_SIZE) == 0;
}

#endif
