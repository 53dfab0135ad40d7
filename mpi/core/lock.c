/* SPDX-License-Identifier: MIT
 *
 * The lock of a rank whose program has several threads in MPI.
 *
 * The favoured thread says `inside` and then looks whether it is still favoured; who takes that away does it the other way round. Neither store is
 * overtaken by the look that follows: the one who takes it away makes all threads of the process see to that, the favoured one does nothing.
 */
#include <mpi/core/rank.h>
#include <mpi/core/shared.h>
#include <mpi/transport/transport.h>

#define SPINS 60		/* looks before a thread sleeps: most are inside for less than it takes to wake one */

enum { FREE, HELD, CONTENDED };

__thread struct rank_lock *mpi_rank_favour __attribute__((tls_model("initial-exec")));

/* What a thread that polls asks about. */
struct question {
	struct mpi_rank *self;
	bool (*ready)(const void *arg);
	const void *arg;
	uint32_t turn;
};

/* A number that no two threads share. */
static uintptr_t
this_thread(void)
{
	return (uintptr_t)&mpi_rank_favour;
}

/* Each thread says once that it is there. */
static void
enter_transport(struct mpi_rank *self)
{
	static __thread bool entered;

	if (entered)
		return;
	transport_thread_enter(self);
	entered = true;
}

static bool
try_lock(struct rank_lock *l)
{
	uint32_t word = FREE;

	return swap_strong(&l->word, &word, HELD);
}

static void
take(struct rank_lock *l)
{
	if (try_lock(l))
		return;
	for (unsigned i = 0; i < SPINS; i++)
		if (load_relaxed(&l->word) == FREE && try_lock(l))
			return;
	while (exchange_total(&l->word, CONTENDED) != FREE)
		transport_futex_wait(&l->word, CONTENDED);
}

static void
give(struct rank_lock *l)
{
	if (exchange_total(&l->word, FREE) == CONTENDED)
		transport_futex_wake(&l->word, 1);
}

void
mpi_rank_lock_favours_me(struct mpi_rank *self)
{
	struct rank_lock *l = &self->lock;

	if (l->favoured)
		return;
	enter_transport(self);
	l->favoured = true;
	l->calm = HELD;
	if (!transport_can_fence(self))
		return;
	l->calm = FREE;
	store_relaxed(&l->favours, 1);
	mpi_rank_favour = l;
}

void
mpi_rank_favour_is_over(struct rank_lock *l)
{
	mpi_rank_favour = NULL;
	transport_futex_wake(&l->inside, 1);
}

/* Another one is inside, and it is the first time. */
static void
end_favour(struct mpi_rank *self)
{
	struct rank_lock *l = &self->lock;

	store_total(&l->favours, 0);
	transport_fence(self);
	while (load_acquire(&l->inside) != 0)
		transport_futex_wait(&l->inside, 1);
	l->calm = HELD;
}

static void
enter(struct mpi_rank *self)
{
	struct rank_lock *l = &self->lock;

	if (mpi_rank_favour == l && mpi_rank_favoured_enter(l))
		return;
	take(l);
	if (load_relaxed(&l->favours) != 0)
		end_favour(self);
	__atomic_store_n(&l->owner, this_thread(), __ATOMIC_RELAXED);
}

/* Without waiting. Another one has been here before, so that there is no favour to end. */
static bool
try_enter(struct rank_lock *l)
{
	return (mpi_rank_favour == l && mpi_rank_favoured_enter(l)) || try_lock(l);
}

static void
go(struct rank_lock *l)
{
	if (mpi_rank_favour == l) {
		mpi_rank_favoured_leave(l);
		return;
	}
	__atomic_store_n(&l->owner, 0, __ATOMIC_RELAXED);
	give(l);
}

static bool
is_inside(const struct rank_lock *l)
{
	return mpi_rank_favour == l ? load_relaxed(&l->inside) != 0 : __atomic_load_n(&l->owner, __ATOMIC_RELAXED) == this_thread();
}

void
mpi_rank_lock(struct mpi_rank *self)
{
	struct rank_lock *l = &self->lock;

	if (!is_inside(l)) {
		if (mpi_rank_favour != l)
			enter_transport(self);
		enter(self);
	}
	l->depth++;
}

/*
 * A send has found no room, and who will be woken when there is some is who has tried last. So the thread that polls must try, too: this one
 * leaves, or will sleep where nobody wakes it for that.
 */
static void
kick_poller(struct mpi_rank *self)
{
	if (link_is_empty(&self->outgoing) && link_is_empty(&self->answers))
		return;
	exchange_total(&self->lock.kick, 1);
	transport_wake(self, (uint32_t)self->world_rank);
}

void
mpi_rank_unlock(struct mpi_rank *self)
{
	struct rank_lock *l = &self->lock;

	if (--l->depth > 0)
		return;
	/* this thread's wait is over: another one must poll */
	if (l->polling)
		kick_poller(self);
	else if (l->waiting > 0)
		mpi_rank_moved(self);
	go(l);
}

void
mpi_rank_moved(struct mpi_rank *self)
{
	struct rank_lock *l = &self->lock;

	/* who will wait reads `turn` inside */
	if (l->waiting == 0 && !l->polling)
		return;
	exchange_total(&l->turn, l->turn + 1);
	if (l->waiting > 0)
		transport_futex_wake(&l->turn, INT32_MAX);
	if (l->polling)
		transport_wake(self, (uint32_t)self->world_rank);
}

/* Asked by the transport while others may be inside; then they may have moved something. */
static bool
may_go_on(const void *arg)
{
	const struct question *q = arg;
	struct rank_lock *l = &q->self->lock;
	bool yes;

	if (load_total(&l->turn) != q->turn || load_total(&l->kick) != 0 || !try_enter(l))
		return true;
	yes = q->ready(q->arg);
	if (mpi_rank_favour == l)
		mpi_rank_favoured_leave(l);
	else
		give(l);
	return yes;
}

/* Leave however often this thread is inside, and come back as often. */
static unsigned
leave(struct rank_lock *l)
{
	unsigned depth = l->depth;

	l->depth = 0;
	go(l);
	return depth;
}

static void
come_back(struct mpi_rank *self, unsigned depth)
{
	enter(self);
	self->lock.depth = depth;
}

void
mpi_rank_pause(struct mpi_rank *self, void (*pause)(struct mpi_rank *self))
{
	unsigned depth = leave(&self->lock);

	pause(self);
	come_back(self, depth);
}

void
mpi_rank_wait(struct mpi_rank *self, unsigned idle, bool (*ready)(const void *arg), const void *arg)
{
	struct rank_lock *l = &self->lock;
	struct question q = {self, ready, arg, l->turn};
	bool polls = !l->polling;
	unsigned depth;

	if (polls)
		l->polling = true;
	else
		l->waiting++;
	if (!polls)
		kick_poller(self);
	depth = leave(l);
	if (polls)
		transport_idle(self, idle, may_go_on, &q);
	else
		transport_futex_wait(&l->turn, q.turn);
	come_back(self, depth);
	if (polls) {
		l->polling = false;
		l->kick = 0;
	} else {
		l->waiting--;
	}
}
