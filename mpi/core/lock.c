/* SPDX-License-Identifier: MIT
 *
 * The lock of a rank whose program has several threads in MPI.
 *
 * The favoured thread says `inside` and then looks whether it is still favoured; who takes that
 * away does it the other way round. Neither store is overtaken by the look that follows: the one
 * who takes it away makes all threads of the process see to that, the favoured one does nothing.
 */
#include <mpi/core/rank.h>
#include <mpi/transport/shared.h>
#include <mpi/transport/transport.h>

/* looks before a thread sleeps: most are inside for less than it takes to wake one */
#define SPINS 60

enum { FREE, HELD, CONTENDED };

__thread struct rank_lock *mpi_rank_favour __attribute__((tls_model("initial-exec")));

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
lock_take(struct rank_lock *l)
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
	list_init(&l->sleepers);
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
	lock_take(l);
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
	return mpi_rank_favour == l ? load_relaxed(&l->inside) != 0
		: __atomic_load_n(&l->owner, __ATOMIC_RELAXED) == this_thread();
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

/* Wake one that sleeps. It stays until this thread leaves. */
static void
rouse(struct rank_lock *l, struct rank_waiter *w)
{
	list_remove(&w->link);
	l->waiting--;
	l->rising++;
	store_release(&w->woken, 1);
	transport_futex_wake(&w->woken, 1);
}

static void
rouse_ready(struct rank_lock *l)
{
	for (struct list *at = l->sleepers.next, *next; at != &l->sleepers; at = next) {
		struct rank_waiter *w = list_entry(at, struct rank_waiter, link);

		next = at->next;
		if (w->ready(w->arg))
			rouse(l, w);
	}
}

/*
 * Must the thread that polls look again? Also if a send has found no room: who will be woken when
 * there is some is who has tried last, which was not that thread.
 */
static bool
poller_must_look(struct mpi_rank *self)
{
	const struct rank_waiter *w = self->lock.poller;

	return w->ready(w->arg) || mpi_can_move(self) || !list_is_empty(&self->outgoing) ||
		!list_is_empty(&self->answers);
}

/*
 * Before others are let in: those who wait go on if they can, or must. Not for the thread that
 * polls itself.
 */
static void
call_waiters(struct mpi_rank *self)
{
	struct rank_lock *l = &self->lock;

	if (l->waiting == 0)
		return;
	rouse_ready(l);
	if (l->poller == NULL) {
		if (l->rising == 0 && !list_is_empty(&l->sleepers))
			rouse(l, list_entry(l->sleepers.next, struct rank_waiter, link));
	} else if (poller_must_look(self) && exchange_total(&l->kick, 1) == 0) {
		transport_wake(self, (uint32_t)self->world_rank);
	}
}

void
mpi_rank_unlock(struct mpi_rank *self)
{
	if (--self->lock.depth > 0)
		return;
	call_waiters(self);
	go(&self->lock);
}

static bool
a_sleeper_is_ready(const struct rank_lock *l)
{
	for (const struct list *at = l->sleepers.next; at != &l->sleepers; at = at->next) {
		const struct rank_waiter *w = list_entry(at, const struct rank_waiter, link);

		if (w->ready(w->arg))
			return true;
	}
	return false;
}

/*
 * Asked by the transport for the thread that polls, while others may be inside: is there anything
 * for it, or for those who sleep?
 */
static bool
may_go_on(const void *rank)
{
	struct mpi_rank *self = (struct mpi_rank *)(uintptr_t)rank;
	struct rank_lock *l = &self->lock;
	bool yes;

	if (load_total(&l->kick) != 0 || !try_enter(l))
		return true;
	yes = l->poller->ready(l->poller->arg) || mpi_can_move(self) || a_sleeper_is_ready(l);
	if (mpi_rank_favour == l)
		mpi_rank_favoured_leave(l);
	else
		give(l);
	return yes;
}

/* Leave however often this thread is inside, and come back as often. */
static unsigned
lock_leave(struct rank_lock *l)
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
	unsigned depth;

	call_waiters(self);
	depth = lock_leave(&self->lock);
	pause(self);
	come_back(self, depth);
}

static void
poll(struct mpi_rank *self, struct rank_waiter *me, unsigned idle)
{
	struct rank_lock *l = &self->lock;
	unsigned depth;

	rouse_ready(l);
	l->poller = me;
	l->waiting++;
	depth = lock_leave(l);
	transport_idle(self, idle, may_go_on, self);
	come_back(self, depth);
	l->poller = NULL;
	l->waiting--;
	l->kick = 0;
}

static void
sleep_until_woken(struct mpi_rank *self, struct rank_waiter *me)
{
	struct rank_lock *l = &self->lock;
	unsigned depth;

	list_push_back(&l->sleepers, &me->link);
	l->waiting++;
	call_waiters(self);
	depth = lock_leave(l);
	transport_futex_wait(&me->woken, 0);
	come_back(self, depth);
	if (me->woken) {
		l->rising--;
	} else {
		list_remove(&me->link);
		l->waiting--;
	}
}

void
mpi_rank_wait(struct mpi_rank *self, unsigned idle, bool (*ready)(const void *arg), const void *arg)
{
	struct rank_waiter me = {.ready = ready, .arg = arg};

	if (self->lock.poller == NULL)
		poll(self, &me, idle);
	else
		sleep_until_woken(self, &me);
}
