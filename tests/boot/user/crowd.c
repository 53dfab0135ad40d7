/* SPDX-License-Identifier: MIT
 *
 * Stands in for init on bare metal: in each cluster as many threads as twelve ranks have with one
 * that helps each, all asleep. When all clusters have them the machine ends, for test_memory.py to
 * look at its memory.
 */
#include <abi/layout.h>
#include <abi/limits.abi.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <context.h>

#define THREADS 24

static unsigned char stack[THREADS][256] __attribute__((aligned(16)));
static uint32_t made;

static void
sleep_for_ever(unsigned long arg)
{
	kthread_sleep(WAKE_ANY, FOREVER);
	kthread_exit(arg);
}

static void
make_threads(void)
{
	struct context ctx;

	for (unsigned i = 0; i < THREADS; i++) {
		context_init(&ctx, (uintptr_t)sleep_for_ever, (uintptr_t)stack[i + 1], i, 0);
		made += kthread_create(&ctx, ANY_CORE) > 0;
	}
}

int
server_main(int argc, char **argv)
{
	uint32_t message[MAILBOX_MSG_SIZE / 4] = {0}, all = 0;
	struct cluster_info info;
	long in, out;

	(void)argc;
	(void)argv;
	kcluster_info(&info);
	make_threads();
	message[0] = made;
	out = kmailbox_open(0, 0);
	in = info.cluster == 0 ? kmailbox_create(0) : 0;
	mailbox_send((int)out, message);
	for (uint32_t i = 0; i < info.clusters && in > 0; i++) {
		mailbox_receive((int)in, ANY_SOURCE_CLUSTER, message);
		all += message[0];
	}
	if (info.cluster != 0)
		kthread_sleep(WAKE_ANY, FOREVER);
	return all == info.clusters * THREADS ? 0 : 1;
}
