/* SPDX-License-Identifier: MIT
 *
 * Messages that wait: the kernel's calls say "not now", the caller waits for the mailbox and tries
 * again.
 */
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>

int
mailbox_send(int id, const void *msg)
{
	long result;

	while ((result = kmailbox_write(id, msg)) == -E_AGAIN) {
		result = kmailbox_wait(id, ANY_SOURCE_CLUSTER, FOREVER);
		if (result < 0)
			return (int)result;
	}
	return result < 0 ? (int)result : 0;
}

int
mailbox_receive(int id, int source, void *msg)
{
	struct mail_sender sender;
	long result;

	while ((result = kmailbox_read(id, source, msg, &sender)) == -E_AGAIN) {
		result = kmailbox_wait(id, source, FOREVER);
		if (result < 0)
			return (int)result;
	}
	return result < 0 ? (int)result : 0;
}
