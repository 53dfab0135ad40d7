/* SPDX-License-Identifier: MIT
 *
 * Waiting. A rank that has a core of its own polls for a while: a cache line comes faster than a wake-up. Ranks that share a core give it to
 * each other between looks. Whoever has found nothing for long sleeps: a peer wakes it, or the kernel when something has arrived at its
 * mailbox, when a mailbox that was full is free, or when a cluster died. A wake-up before the sleep is remembered.
 */
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <mpi/transport/state.h>
#include <mpi/transport/transport.h>

#define POLLS_OWN_CORE 4000		/* hosted: some 100 microseconds, several times a wake-up */
#define POLLS_TRAPPING 40		/* where a core that polls may hold up the one it waits for (emulators) */
#define YIELDS 2000

/* The kernel runs on one core of the cluster; ranks share if there are more of them than other cores. */
static bool
has_own_core(const struct transport *t)
{
	struct cluster_info info;

	return kcluster_info(&info) >= 0 && t->local_ranks < info.cores;
}

void
transport_wait_init(struct transport *t)
{
	bool alone = t->startup == NULL || has_own_core(t);
	bool trapping = t->startup != NULL && t->startup->gate == 0;

	t->polls = trapping ? POLLS_TRAPPING : alone ? POLLS_OWN_CORE : 0;
	t->yields = alone || trapping ? 4 : YIELDS;
}

static bool
nothing_new(const struct transport *t, bool (*ready)(const void *arg), const void *arg)
{
	return inbox_is_empty(&t->inbox) && transport_far_is_empty(t) && !ready(arg);
}

static void
sleep_until_woken(struct transport *t, bool (*ready)(const void *arg), const void *arg)
{
	exchange_total(&t->inbox.box->sleeping, SLEEPING);
	if (nothing_new(t, ready, arg))
		kthread_sleep();
	store_total(&t->inbox.box->sleeping, AWAKE);
}

static void
pause_core(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void
transport_idle(struct mpi_rank *self, unsigned idle, bool (*ready)(const void *arg), const void *arg)
{
	struct transport *t = self->transport;

	if (idle < t->polls && !transport_writer_is_busy(t))
		pause_core();
	else if (t->startup == NULL)
		return;
	else if (idle < t->polls + t->yields)
		kthread_yield();
	else
		sleep_until_woken(t, ready, arg);
}
