/* SPDX-License-Identifier: MIT
 *
 * Waiting and doorbells. A doorbell is a pair of words in the cluster's NoC window, so that any
 * cluster can ring it:
 *
 *	waiting		0 nobody, 1 the core is about to wait, 2 it waits, in the host's futex on
 *			this word, 3 it waits, awake
 *	rung		advanced by whoever rings while somebody waits
 *
 * Both sides write their own word, then read the other's, in full order: the core sees the ring, or
 * the ringer sees the core waiting. Who rings makes 2 into 3 and wakes. The futex must be on
 * `waiting`: a ringer that is late with this for a ring which the core has seen long ago may do it
 * between the core's last look at `rung` and its sleep, and later ringers would take the core for
 * awake. tests/models/doorbell.pml shows both.
 */
#include <linux/futex.h>
#include <hal/timer.h>
#include "hosted.h"

#define NOBODY 0
#define BEGINS 1
#define ASLEEP 2
#define AWAKE 3

/*
 * A futex wake of a halted CPU costs about 20 us, a cache line 0.1 us: so a core polls for a while
 * before it sleeps, but only as long as no other core of the machine needs its CPU. Other programs
 * may need it too: polling that was in vain makes the next one shorter, and only now and then a
 * full one looks whether that has changed.
 */
#define POLL_NS 30000
#define POLL_MIN_NS 500
#define POLL_PROBE 32			/* every so many waits */
#define POLL_ROUNDS 16			/* between two looks at the clock */

static inline void
relax(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

uint64_t
hal_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return host_ns(&now);
}

static void
set_waiting(struct host_core *c, uint32_t value)
{
	__atomic_store_n(&c->bell->waiting, value, __ATOMIC_SEQ_CST);
}

static bool
was_rung(const struct host_core *c)
{
	return __atomic_load_n(&c->bell->rung, __ATOMIC_SEQ_CST) != c->seen
		|| __atomic_load_n(&c->pending, __ATOMIC_RELAXED) != 0;
}

void
hal_wait_begin(void)
{
	struct host_core *c = host_core_self();

	c->seen = hal_load32(&c->bell->rung);
	/* everything is looked at again from here on */
	__atomic_store_n(&c->pending, 0, __ATOMIC_RELAXED);
	set_waiting(c, BEGINS);
}

void
hal_wait_cancel(void)
{
	set_waiting(host_core_self(), NOBODY);
}

static bool
cpu_to_spare(void)
{
	return hal_load32(&host.machine->control->awake) <= host.machine->cpus;
}

/* True if somebody rang before `end`. */
static bool
poll_until(const struct host_core *c, uint64_t end)
{
	do {
		for (int i = 0; i < POLL_ROUNDS; i++) {
			if (was_rung(c))
				return true;
			if (!cpu_to_spare())
				return false;
			relax();
		}
	} while (hal_clock_ns() < end);
	return false;
}

/* True if somebody rang. */
static bool
poll_briefly(struct host_core *c, uint64_t until_ns)
{
	uint32_t limit = c->waits++ % POLL_PROBE == 0 ? POLL_NS : c->poll_ns;
	uint64_t end;

	if (limit < POLL_MIN_NS || !cpu_to_spare())
		return was_rung(c);
	set_waiting(c, AWAKE);
	end = hal_clock_ns() + limit;
	if (poll_until(c, end < until_ns ? end : until_ns)) {
		c->poll_ns = POLL_NS;
		return true;
	}
	if (cpu_to_spare())
		c->poll_ns = limit / 2;
	return false;
}

/*
 * From asleep to awake, by whoever does it first: the core or the one who rings. It counts as awake
 * from then on.
 */
static bool
awaken(struct hal_doorbell *bell)
{
	if (!hal_cas32(&bell->waiting, ASLEEP, AWAKE))
		return false;
	hal_add32(&host.machine->control->awake, 1);
	return true;
}

static void
sleep_until(struct host_core *c, uint64_t until_ns)
{
	struct timespec time = host_time(until_ns);

	set_waiting(c, ASLEEP);
	hal_add32(&host.machine->control->awake, (uint32_t)-1);
	if (!was_rung(c))
		host_call6(SYS_futex, &c->bell->waiting, FUTEX_WAIT_BITSET, ASLEEP,
			until_ns == HAL_FOREVER ? NULL : &time, NULL,
			FUTEX_BITSET_MATCH_ANY);
	awaken(c->bell);
}

void
hal_wait(uint64_t until_ns)
{
	struct host_core *c = host_core_self();

	if (!poll_briefly(c, until_ns))
		sleep_until(c, until_ns);
	set_waiting(c, NOBODY);
	hal_fence();
}

static struct hal_doorbell *
bell_of(unsigned cluster, unsigned core)
{
	if (host.guests_from != 0 && core >= host.guests_from && cluster == host.cluster)
		return &host.core[core].own_bell;
	return hal_noc_doorbell(cluster, core);
}

/*
 * True if this ends a wait: the core looks at every source now. False for one that is about to
 * wait, which may still decide otherwise.
 */
static bool
ring(struct hal_doorbell *bell)
{
	uint32_t waiting;

	hal_fence();
	waiting = hal_load32(&bell->waiting);
	if (waiting == NOBODY)
		return false;
	hal_add32(&bell->rung, 1);
	if (!awaken(bell))
		return waiting != BEGINS;
	host_call6(SYS_futex, &bell->waiting, FUTEX_WAKE, 1, NULL, NULL, 0);
	return true;
}

void
hal_notify(unsigned cluster, unsigned core)
{
	ring(bell_of(cluster, core));
}

void
hal_interrupt(unsigned core)
{
	uint32_t tid = hal_load32(&host.core[core].tid);

	if (!ring(bell_of(host.cluster, core)) && tid != 0)
		host_call3(SYS_tgkill, host.pid, tid, HOST_INTERRUPT);
}

/* Core 0 is its process's first thread: one number names both. */
void
hal_interrupt_home(unsigned cluster)
{
	uint32_t home = hal_load32(&host.machine->control->home[cluster]);

	if (!ring(bell_of(cluster, 0)) && home != 0)
		host_call3(SYS_tgkill, home, home, HOST_INTERRUPT);
}

/*
 * Who sleeps is awakened by nobody any more. Of guests nothing is known here. A home core that this
 * cluster was about to wake sleeps on though it counts as awake: all of them are woken.
 */
void
host_cluster_gone(unsigned cluster)
{
	const struct boot_record *r = host.machine->record;
	struct host_control *control = host.machine->control;

	if (hal_load32(&control->home[cluster]) == 0)
		return;
	hal_store32(&control->home[cluster], 0);
	for (uint32_t i = 0; i < r->cluster[cluster].cores; i++)
		if (r->roles[r->cluster[cluster].first_core + i] != ROLE_IDLE &&
			!hal_cas32(&hal_noc_doorbell(cluster, i)->waiting, ASLEEP, NOBODY))
			hal_add32(&control->awake, (uint32_t)-1);
	for (uint32_t i = 0; i < r->clusters; i++)
		host_call6(SYS_futex, &hal_noc_doorbell(i, 0)->waiting, FUTEX_WAKE, 1, NULL, NULL,
			0);
}

/* --- lives of other clusters: the launcher does it --- */

static void
order(unsigned cluster, enum host_order what)
{
	hal_store32(&host.machine->control->order[cluster], what);
	hal_fence();
	host_call2(SYS_kill, hal_load32(&host.machine->control->launcher), HOST_ORDER);
}

int
hal_cluster_stop(unsigned cluster)
{
	uint32_t now;

	if (host.cluster != 0)
		return -E_ACCES;
	if (cluster == 0 || cluster >= host.machine->record->clusters)
		return -E_INVAL;
	now = hal_load32(&host.machine->control->order[cluster]);
	if (now == HOST_STOPPED)
		return 0;
	if (now != HOST_STOP)
		order(cluster, HOST_STOP);
	return -E_AGAIN;
}

int
hal_cluster_start(unsigned cluster)
{
	int e = hal_cluster_stop(cluster);

	if (e == 0)
		order(cluster, HOST_START);
	return e;
}
