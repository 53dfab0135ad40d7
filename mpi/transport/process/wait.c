/* SPDX-License-Identifier: MIT
 *
 * Waiting. A rank that has a processor of its own polls for a while: a cache line comes faster than
 * a wake-up. A rank that shares one gives it away at once: to whoever may run, then it sleeps on
 * the word `sleeping` of its inbox, which a peer changes before it wakes it: a wake-up before the
 * sleep is remembered.
 */
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <mpi/transport/process/state.h>
#include <mpi/transport/transport.h>

#define POLLS_OWN 4000		/* some 100 microseconds, several times a wake-up */
#define POLLS_FLOATING 200	/* there are enough processors, but others may use them */
/* before the second look: a peer that is sending gets ahead, an answer takes longer anyhow */
#define SPINS_FIRST 200
#define YIELDS 1
#define RELAX_EVERY 16

static void
futex(uint32_t *word, int operation, uint32_t value)
{
	syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

void
transport_futex_wait(uint32_t *word, uint32_t value)
{
	futex(word, FUTEX_WAIT_PRIVATE, value);
}

void
transport_futex_wake(uint32_t *word, int count)
{
	futex(word, FUTEX_WAKE_PRIVATE, (uint32_t)count);
}

int
transport_thread_level(struct mpi_rank *self, int required)
{
	(void)self;
	return required;
}

void
transport_thread_enter(struct mpi_rank *self)
{
	(void)self;
}

void
transport_wait_init(struct transport *t)
{
	const struct segment *s = t->segment;

	t->polls = s->exclusive ? POLLS_OWN : s->ranks <= s->processors ? POLLS_FLOATING : 0;
	t->yields = YIELDS;
	t->inbox.polls = t->polls;
}

void
transport_wake_owner(struct inbox *box)
{
	uint32_t sleeping = SLEEPING;

	if (load_total(&box->sleeping) == SLEEPING && swap_strong(&box->sleeping, &sleeping, AWAKE))
		futex(&box->sleeping, FUTEX_WAKE, 1);
}

static bool
nothing_new(const struct transport *t, bool (*ready)(const void *arg), const void *arg)
{
	return inbox_is_empty(&t->inbox) && !ready(arg);
}

/* The launcher thinks that nobody will ever be woken, and asks what for we sleep. */
static void
wait_tell(struct mpi_rank *self)
{
	struct transport *t = self->transport;
	struct segment_rank *r = &t->segment->rank[t->rank];

	if (load_relaxed(&r->told) != 0)
		return;
	mpi_describe_wait(self, transport_function(), segment_said(t->segment, t->rank),
		SAID_BYTES);
	store_release(&r->told, 1);
}

/* `slept` is odd from after the last look to before the next: mpiexec looks at it (ADR 0052). */
static void
sleep_until_woken(struct mpi_rank *self, bool (*ready)(const void *arg), const void *arg)
{
	struct transport *t = self->transport;
	struct inbox *box = t->inbox.box;

	exchange_total(&box->sleeping, SLEEPING);
	if (nothing_new(t, ready, arg)) {
		store_total(&box->slept, box->slept + 1);
		futex(&box->sleeping, FUTEX_WAIT, SLEEPING);
		store_total(&box->slept, box->slept + 1);
		if (load_relaxed(&t->segment->asked) != 0)
			wait_tell(self);
	} else if (inbox_peek(&t->inbox) == NULL)
		/* a packet is being filled, perhaps by a rank that this one holds up */
		sched_yield();
	store_total(&box->sleeping, AWAKE);
}

/* Do nothing for so many turns, without looking at memory that a peer is about to write. */
static void
wait_let_go(unsigned turns)
{
	for (unsigned i = 0; i < turns; i++)
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void
transport_idle(struct mpi_rank *self, unsigned idle, bool (*ready)(const void *arg),
	const void *arg)
{
	struct transport *t = self->transport;

	if (idle < t->polls)
		wait_let_go(idle == 0 ? SPINS_FIRST : 1);
	else if (idle < t->polls + t->yields)
		sched_yield();
	else
		sleep_until_woken(self, ready, arg);
}

bool
transport_shares_core(const struct mpi_rank *self)
{
	(void)self;
	return false;
}

void
transport_yield(struct mpi_rank *self)
{
	self->yields++;
	sched_yield();
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

	/* whether two threads count as one does not matter */
	store_relaxed(&t->relaxed, load_relaxed(&t->relaxed) + 1);
	if (t->polls == 0 || load_relaxed(&t->relaxed) % RELAX_EVERY == 0)
		sched_yield();
}

/*
 * Where they run is the system's choice; those of one number at least do not all run at the same
 * time.
 */
uint32_t
transport_cores(const struct mpi_rank *self)
{
	uint32_t processors = self->transport->segment->processors;

	return processors < 1 ? 1 : processors;
}

uint32_t
transport_core(const struct mpi_rank *self, uint32_t peer)
{
	return peer % transport_cores(self);
}
