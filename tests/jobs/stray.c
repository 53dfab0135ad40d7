/* SPDX-License-Identifier: MIT
 *
 * Sends noise to the ports of ranks in all clusters, for ever: jobs that listen there take none of
 * it for their own. It leaves them time in between: a cluster has one message for each port on its
 * way, and who always has one there keeps all others from that.
 */
#include <stdint.h>
#include <string.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>

#define PORT_FIRST 8
#define PAUSE_NS 200000

int
main(void)
{
	unsigned char message[MAILBOX_MSG_SIZE];
	struct cluster_info here;
	uint64_t now = 0;

	kcluster_info(&here);
	for (uint32_t n = 0;; n++) {
		uint32_t ports = here.mailbox_ports - PORT_FIRST;
		long out = kmailbox_open((int)(n % here.clusters),
			(int)(PORT_FIRST + n / here.clusters % ports));

		memset(message, (int)n, sizeof(message));
		/* a kind of packet that there is */
		message[0] = (unsigned char)(n % 16);
		memset(message + 1, 0, 3);
		kmailbox_write((int)out, message);
		khandle_close((int)out);
		kclock(&now);
		kthread_sleep(1, now + PAUSE_NS);
	}
}
