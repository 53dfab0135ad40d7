/* SPDX-License-Identifier: MIT
 *
 * The sync calls: points at which clusters meet. A sync point is a list of clusters, of which the
 * first is the ONE, a mode, and a port of the ONE: SYNC_ONE_TO_ALL: the ONE signals, all others
 * wait; SYNC_ALL_TO_ONE: all others signal, the ONE waits. Each cluster has one end of it.
 *
 * Ends are named by handles. Signalling needs RIGHT_SIGNAL, waiting and binding RIGHT_WAIT.
 * handle_close closes: a wait through a handle that is closed or revoked ends with -E_BADF; signals
 * that an end has given still arrive.
 *
 * Source: seed 000 III-B; seed 002 4.1.1 (Sync). Differs: a port tells points with the same
 * clusters apart; the order in which ends are made does not matter; a deadline ends a wait.
 */
#include <base/str.h>
#include <kernel/ikc/state.h>

/*
 * Rounds: a wait takes one signal of each partner. One signal of each partner is kept until then,
 * also while the waiting end does not exist yet, and the partner can give the next when it was
 * taken: so a signal of the next round is neither lost nor counted in this one, and no partner is
 * more than one round ahead.
 *
 * A signalling end belongs to the life of the waiting end that first took a signal of it: when that
 * is closed it says -E_PIPE. Both belong to the incarnation of each partner that they first met:
 * -E_HOSTDOWN while a partner is dead, -E_CONNRESET once one has restarted. A round that is
 * complete can still be taken.
 */

struct plan {
	uint32_t partners[BITMAP_WORDS(CLUSTERS_MAX)];
	uint32_t one;
};

/* Does a list of clusters, with the own one at the right place, make a sync point? */
static bool
plan_of(const struct cluster *c, const uint8_t *clusters, uint32_t count, bool is_one,
	struct plan *plan)
{
	if (count < 2 || (clusters[0] == c->id) != is_one)
		return false;
	*plan = (struct plan){.one = clusters[0]};
	for (uint32_t i = 0; i < count; i++) {
		if (clusters[i] >= c->ikc.clusters || bitmap_test(plan->partners, clusters[i]))
			return false;
		bitmap_set(plan->partners, clusters[i]);
	}
	if (!bitmap_test(plan->partners, c->id))
		return false;
	if (is_one) {
		bitmap_clear(plan->partners, c->id);
		return true;
	}
	*plan = (struct plan){.one = plan->one};
	bitmap_set(plan->partners, plan->one);
	return true;
}

static bool
is_open(const struct cluster *c, const struct plan *plan, int port)
{
	const struct endpoint *ep = c->ikc.peer[plan->one].syncs;

	while (ep != NULL && ep->port != port)
		ep = ep->next;
	return ep != NULL;
}

/* Both calls; `is_one`: the own cluster has to be the ONE. */
static long
end_new(struct thread *caller, struct endpoint what, bool is_one, const uint8_t *clusters,
	uint32_t count)
{
	struct cluster *c = caller->cluster;
	struct endpoint **at;
	struct plan plan;
	long handle;

	if (!plan_of(c, clusters, count, is_one, &plan))
		return -E_INVAL;
	if (is_open(c, &plan, what.port))
		return -E_BUSY;
	what.cluster = (uint8_t)plan.one;
	at = &c->ikc.peer[plan.one].syncs;
	handle = endpoint_new(caller, what, at);
	if (handle > 0) {
		memcpy(sync_of(*at)->partners, plan.partners, sizeof(plan.partners));
		sync_begin(c, sync_of(*at));
	}
	return handle;
}

static bool
is_point(int mode, int port)
{
	return (mode == SYNC_ONE_TO_ALL || mode == SYNC_ALL_TO_ONE) && port >= 0 &&
		port < SYNC_PORTS;
}

/*
 * kc_sync_create: make the waiting end of a sync point in this cluster.
 *
 *   mode      SYNC_ONE_TO_ALL: this is not the ONE; SYNC_ALL_TO_ONE: it is
 *   port      of the ONE, below SYNC_PORTS
 *   clusters  a byte each, at least two, no two the same, the first is the ONE, this one is there
 *
 * Returns its handle; -E_INVAL: no such point; -E_BUSY: this cluster has an end of a point with
 * this ONE and port; -E_MFILE; -E_NOMEM.
 */
long
kc_sync_create(struct thread *caller, int mode, int port, const void *clusters, uint32_t len)
{
	struct endpoint what = {.kind = SYNC_IN, .port = (uint8_t)port};

	return is_point(mode, port) ?
		end_new(caller, what, mode == SYNC_ALL_TO_ONE, clusters, len) : -E_INVAL;
}

/*
 * kc_sync_open: make the signalling end of a sync point in this cluster. Arguments and errors as of
 * sync_create, with the sides changed. Nothing is sent: no other end needs to be there yet.
 */
long
kc_sync_open(struct thread *caller, int mode, int port, const void *clusters, uint32_t len)
{
	struct endpoint what = {.kind = SYNC_OUT, .port = (uint8_t)port};

	return is_point(mode, port) ?
		end_new(caller, what, mode == SYNC_ONE_TO_ALL, clusters, len) : -E_INVAL;
}

/*
 * kc_sync_signal: signal all partners, or none.
 *
 * Returns 0; -E_BADF; -E_ACCES; -E_AGAIN: a partner did not take the last signal yet, or is not up
 * yet: sync_wait and EVENT_SYNC tell when; -E_PIPE, -E_HOSTDOWN, -E_CONNRESET: see above.
 */
long
kc_sync_signal(struct thread *caller, int sync)
{
	struct endpoint *ep;
	long wrong = endpoint_find(caller, sync, SYNC_OUT, RIGHT_SIGNAL, &ep);

	if (wrong == 0)
		wrong = sync_result(sync_of(ep));
	if (wrong == 0)
		sync_give(caller->cluster, sync_of(ep));
	return wrong == -E_PARK ? -E_AGAIN : wrong;
}

static bool
is_crowded(const struct list *queue)
{
	const struct list *node = queue->next;

	for (unsigned n = 1; n < SYNC_WAITERS && node != queue; n++)
		node = node->next;
	return node != queue;
}

/* Home half of sync_wait. */
static long
wait_home(struct kcall_args *args)
{
	struct thread *caller = args->caller;
	struct endpoint *ep;
	struct sync *y;
	long result = endpoint_find(caller, (int)args->a[0], SYNC_IN | SYNC_OUT, RIGHT_WAIT, &ep);

	if (result != 0)
		return result;
	y = sync_of(ep);
	result = sync_result(y);
	if (result == 0 && ep->kind == SYNC_IN)
		sync_take(caller->cluster, y);
	if (result != -E_PARK)
		return result;
	if (is_crowded(&y->waiters))
		return -E_BUSY;
	caller->wait.handle = (int)args->a[0];
	return thread_park(caller, &y->waiters);
}

/*
 * kc_sync_wait: at the waiting end: wait until all partners have signalled, and take one signal of
 * each; each round ends the wait of one thread, in the order in which they came. At the signalling
 * end: wait until the next signal may be given.
 *
 * Calling core; waits. Returns 0; -E_BADF; -E_ACCES; -E_BUSY: as many threads wait as can;
 * -E_HOSTDOWN, -E_CONNRESET; signalling end: -E_PIPE.
 */
long
kc_sync_wait(struct thread *caller, int sync)
{
	unsigned long value = (unsigned long)(long)sync;

	return ikc_call_home(caller, wait_home, &value, 1);
}

void
sync_handle_gone(struct endpoint *ep)
{
	struct list *queue = &sync_of(ep)->waiters, *next;

	for (struct list *node = queue->next; node != queue; node = next) {
		struct thread *t = list_entry(node, struct thread, wait.link);

		next = node->next;
		if (handle_get_far(&t->proc->handles, t->wait.handle, OBJECT_PORT) != &ep->object)
			thread_ready(t, -E_BADF);
	}
}

void
sync_close(struct cluster *c, struct endpoint *ep)
{
	struct endpoint **at = &c->ikc.peer[ep->cluster].syncs;

	while (*at != ep)
		at = &(*at)->next;
	*at = ep->next;
	sync_end(c, sync_of(ep));
}
