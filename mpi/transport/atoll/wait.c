/* SPDX-License-Identifier: MIT
 *
 * Waiting. A rank that has a core of its own, and a core that has a processor of its own, polls for
 * a while: a cache line comes faster than a wake-up. Ranks that share a core give it to each other
 * between looks. Whoever has found nothing for long sleeps: a peer wakes it, or the kernel when
 * something has arrived at its mailbox, when a mailbox that was full is free, or when a cluster
 * died. A wake-up before the sleep is remembered.
 */
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <abi/layout.h>
#include <atoll/guest.h>
#include <atoll/kcalls.h>
#include <atoll/startup.h>
#include <atoll/yield.h>
#include <mpi/transport/atoll/state.h>
#include <mpi/transport/transport.h>

/* of a rank's memory: below, there is no room for the stack of a thread of the program */
#define THREADS_RANK_KB 150

#define POLLS 4000		/* some 100 microseconds, several times a wake-up */
/* times that all ranks of a core may look in vain before they sleep */
#define ROUNDS_OWN_CPU 1000
#define ROUNDS_SHARED_CPU 2	/* the same where that may hold up another core */
#define LOOKS_MOST (1 << 20)	/* in vain, of a core with very many ranks: some 100 milliseconds */
#define RELAX_EVERY 16

/*
 * A single rank without a system below it has the host's threads. With MPI_THREAD_SERIALIZED, too,
 * each thread must be known to the kernel, and be the one that peers wake when it waits: that is
 * MPI_THREAD_MULTIPLE here.
 */
int
transport_thread_level(struct mpi_rank *self, int required)
{
	struct transport *t = self->transport;

	if (required < (t->startup != NULL ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE))
		return required;
	t->threads = t->startup != NULL && guests_admit(t->local_ranks) &&
		(t->startup->rank_kb == 0 || t->startup->rank_kb >= THREADS_RANK_KB);
	if (t->threads)
		store_total(&t->sleepers->several, 1);
	return t->startup == NULL || t->threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
}

void
transport_thread_enter(struct mpi_rank *self)
{
	if (self->transport != NULL && self->transport->threads && guest_enter() != 0)
		mpi_die(self, 2, "too many threads of the program use MPI at a time");
}

void
transport_futex_wait(uint32_t *word, uint32_t value)
{
	if (atoll_startup() != NULL)
		kfutex_wait((unsigned long)word, value, FOREVER);
	else
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

void
transport_futex_wake(uint32_t *word, int count)
{
	if (atoll_startup() != NULL)
		kfutex_wake((unsigned long)word, count);
	else
		syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

/*
 * Does a core that polls keep no other core from running? Emulated cores may. Hosted ones are bound
 * to one processor each if there are enough of them, and float otherwise.
 */
static bool
cores_have_processors(const struct startup *s)
{
	cpu_set_t set;

	return s->gate != 0 && sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) == 1;
}

void
transport_wait_init(struct transport *t)
{
	struct cluster_info info;
	unsigned cores, per_core;
	bool alone;

	if (t->startup == NULL)
		return;
	/* the kernel has one core of the cluster */
	cores = kcluster_info(&info) >= 0 && info.cores > 1 ? info.cores - 1 : 1;
	t->cores = cores;
	per_core = (t->local_ranks + cores - 1) / cores;
	alone = cores_have_processors(t->startup);
	t->polls = alone && per_core == 1 ? POLLS : 0;
	t->inbox.polls = t->polls;
	t->yields = per_core * (alone && per_core > 1 ? ROUNDS_OWN_CPU : ROUNDS_SHARED_CPU);
	if (t->yields > LOOKS_MOST / per_core)
		t->yields = LOOKS_MOST / per_core;
	t->relaxes = !alone;
}

static bool
nothing_new(const struct transport *t, bool (*ready)(const void *arg), const void *arg)
{
	return inbox_is_empty(&t->inbox) && transport_far_is_empty(t) &&
		!transport_writer_is_over(t) && !ready(arg);
}

/*
 * With several threads of the program it is not always the same one that peers and the kernel are
 * to wake.
 */
static void
become_listener(struct transport *t)
{
	int32_t tid = (int32_t)kthread_self();

	if (t->inbox.box->tid == tid)
		return;
	store_relaxed((uint32_t *)&t->inbox.box->tid, (uint32_t)tid);
	if (t->mailbox >= 0)
		transport_far_listen(t);
}

static void
sleep_until_woken(struct mpi_rank *self, bool (*ready)(const void *arg), const void *arg)
{
	struct transport *t = self->transport;

	if (t->threads)
		become_listener(t);
	transport_channels_listen(t);
	exchange_total(&t->inbox.box->sleeping, SLEEPING);
	count_if(true, &t->counts.waits);
	if (nothing_new(t, ready, arg)) {
		transport_falls_asleep(self);
		kthread_sleep(WOKEN, FOREVER);
		transport_woke_up(self);
		transport_channels_wake(t);
		return;
	}
	transport_stays_awake(t);
	if (t->relaxes)
		/* a packet is being filled, perhaps by a core that this one holds up */
		kvoid_remote();
}

static void
pause_core(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void
yield(struct transport *t)
{
	count_if(true, &t->counts.waits);
	kthread_yield();
}

void
transport_idle(struct mpi_rank *self, unsigned idle, bool (*ready)(const void *arg),
	const void *arg)
{
	struct transport *t = self->transport;

	if (idle < t->polls && !transport_writer_is_busy(t))
		pause_core();
	else if (t->startup == NULL)
		return;
	else if (idle < t->polls + t->yields)
		yield(t);
	else
		sleep_until_woken(self, ready, arg);
}

bool
transport_shares_core(const struct mpi_rank *self)
{
	return self->transport->startup != NULL && self->transport->polls == 0;
}

/* Counted where the rank looks anyhow. */
ON_ONE_PAGE void
transport_yield(struct mpi_rank *self)
{
	self->yields++;
	thread_yield_by(self->yield_way);
}

bool
transport_sleeps_at(const struct mpi_rank *self, unsigned idle)
{
	return idle >= self->transport->polls + self->transport->yields;
}

void
transport_relax(struct mpi_rank *self)
{
	struct transport *t = self->transport;

	if (t->startup == NULL)
		return;
	/* other threads of the program may be on this core */
	if (self->thread_level == MPI_THREAD_MULTIPLE || t->yields > ROUNDS_SHARED_CPU ||
		transport_writer_is_busy(t))
		kthread_yield();
	/* a call that waits for the kernel's core lets the others run */
	store_relaxed(&t->relaxed, load_relaxed(&t->relaxed) + 1);
	if (t->relaxes && load_relaxed(&t->relaxed) % RELAX_EVERY == 0)
		kvoid_remote();
}

/* The loader puts the ranks of a cluster on its cores in turn. */
uint32_t
transport_cores(const struct mpi_rank *self)
{
	return self->transport->cores > 0 ? self->transport->cores : 1;
}

uint32_t
transport_core(const struct mpi_rank *self, uint32_t peer)
{
	const struct transport *t = self->transport;

	return (t->placement ? t->placement[peer].local_rank : 0) % transport_cores(self);
}
