/* SPDX-License-Identifier: MIT
 *
 * Threads that wait for mailboxes and for deaths. Each thing that can be waited for has a queue.
 * When it changes, its queue is looked through: each thread, the oldest first, is asked for what
 * its wait comes to now, and goes on if it has ended. A look takes a bounded number of threads at a
 * time, the rest later (ikc_look), so what a thread waits for may be gone again by then, taken by
 * an older one: then it waits on. In the same way those are told who found a slot full. Home core.
 *
 * Queues are numbered: see queue_watchers and so on in state.h.
 */
#include <kernel/ikc/state.h>

/* of one step: 1 for a thread that waits on, and more for one that goes on */
#define LOOK_COST 6
#define LOOK_GOES_ON 2

/* The threads of a queue of those who wait, and the output slot that it belongs to, or NULL. */
static struct list *
threads_of(struct cluster *c, uint32_t queue, struct mail_out **o)
{
	uint32_t in = queue_in(c, 0), out = queue_out(c, 0, 0);

	*o = queue >= out ? c->ikc.out[queue - out] : NULL;
	if (*o != NULL)
		return &(*o)->waiters;
	return queue < in ? &c->ikc.peer[queue - queue_watchers(0)].watchers :
		&c->ikc.in[queue - in].waiters;
}

/* --- what a wait comes to --- */

/* WAIT_MAIL_IN: the source, and how often that had died when the wait began. */
#define ON_SOURCE 0xffu

uintptr_t
mail_wait_for(const struct cluster *c, int source)
{
	return source == ANY_SOURCE_CLUSTER ? ON_SOURCE :
		(uint32_t)source | c->ikc.peer[source].deaths << 8;
}

static bool
has_died_since(const struct ikc_peer *p, uint32_t deaths)
{
	return p->state == PEER_DEAD || p->deaths << 8 != deaths << 8;
}

static long
in_result(struct cluster *c, const struct thread *t, uint32_t port)
{
	uint32_t source = t->wait.on & ON_SOURCE;

	if (mail_in_is_pending(c, port, source == ON_SOURCE ? ANY_SOURCE_CLUSTER : (int)source))
		return 0;
	if (source != ON_SOURCE)
		mail_demand(c, source, port);
	return source != ON_SOURCE &&
		has_died_since(&c->ikc.peer[source], (uint32_t)(t->wait.on >> 8)) ? -E_HOSTDOWN :
		-E_PARK;
}

long
mail_wait_result(struct thread *t, struct endpoint **ep)
{
	struct cluster *c = t->cluster;
	long wrong = endpoint_find(t, t->wait.handle, MAIL_IN | MAIL_OUT, RIGHT_WAIT, ep);

	if (wrong != 0)
		return wrong;
	return (*ep)->kind == MAIL_IN ? in_result(c, t, (*ep)->port) : mail_out_result(c, *ep);
}

static long
wait_result(struct cluster *c, struct thread *t)
{
	uint32_t queue = c->ikc.looking;
	struct endpoint *ep;

	if (queue >= queue_in(c, 0))
		return mail_wait_result(t, &ep);
	return has_died_since(&c->ikc.peer[queue - queue_watchers(0)], (uint32_t)t->wait.on) ?
		-E_HOSTDOWN : -E_PARK;
}

/* --- looks --- */

/* Threads of the queue from the mark on. What is left of the cost: 0 if there may be more. */
static int
look_at_threads(struct cluster *c, const struct list *queue, int cost)
{
	struct list *mark = &c->ikc.mark, *node;

	for (; cost > 0 && (node = mark->next) != queue; cost--) {
		struct thread *t = list_entry(node, struct thread, wait.link);
		long result = wait_result(c, t);

		list_remove(mark);
		list_insert_between(mark, node, node->next);
		if (result == -E_PARK)
			continue;
		thread_ready(t, result);
		cost -= LOOK_GOES_ON - 1;
	}
	return cost;
}

/* Tell the threads of a list that missed a slot, up to `end`. What is left of the cost. */
static __attribute__((noinline)) int
tell(struct cluster *c, struct list *missed, const struct list *end, int cost)
{
	for (; cost > 0 && missed->next != end; cost -= LOOK_GOES_ON)
		binding_signal(c, &list_entry(list_pop_front(missed), struct thread, missed)->room);
	return cost;
}

/* A look goes on. What is left of the cost: 0 if it is not over. */
static int
look_on(struct cluster *c)
{
	struct ikc_state *s = &c->ikc;
	struct mail_out *o;
	int cost;

	if (s->looking == QUEUE_MISSED)
		return tell(c, &s->missed, &s->mark, LOOK_COST);
	cost = look_at_threads(c, threads_of(c, s->looking, &o), LOOK_COST);
	if (o != NULL)
		return mail_out_is_free(c, o) ? tell(c, &o->missed, &o->missed, cost) : cost;
	return s->looking >= queue_in(c, 0) ? mail_in_serve(c, s->looking - queue_in(c, 0), cost) :
		cost;
}

/*
 * Of those who missed several slots, the ones that are there when the look begins are told: they
 * may miss again at once.
 */
static void
look_begin(struct cluster *c)
{
	struct ikc_state *s = &c->ikc;
	uint32_t queues = queues_of(s), queue = bitmap_find_set(s->look, queues, s->looking);
	struct mail_out *o;

	if (queue == queues)
		queue = bitmap_find_set(s->look, queues, 0);
	bitmap_clear(s->look, queue);
	s->looks--;
	s->looking = queue;
	if (queue == QUEUE_MISSED)
		list_push_back(&s->missed, &s->mark);
	else
		list_push_front(threads_of(c, queue, &o), &s->mark);
}

static void
look_end(struct cluster *c)
{
	struct ikc_state *s = &c->ikc;
	uint32_t out = queue_out(c, 0, 0);

	list_remove(&s->mark);
	c->chores--;
	if (s->looking >= out)
		mail_out_forget(c, (s->looking - out) / s->mailbox_ports,
			(s->looking - out) % s->mailbox_ports);
}

bool
ikc_look(struct cluster *c)
{
	struct ikc_state *s = &c->ikc;

	if (sync_send(c))
		return true;
	if (list_is_empty(&s->mark)) {
		if (s->looks == 0)
			return false;
		look_begin(c);
	}
	if (look_on(c) > 0)
		look_end(c);
	return true;
}

void
look_later(struct cluster *c, uint32_t queue)
{
	struct ikc_state *s = &c->ikc;

	if (bitmap_test(s->look, queue))
		return;
	bitmap_set(s->look, queue);
	s->looks++;
	c->chores++;
}

void
look_at(struct cluster *c, uint32_t queue)
{
	look_later(c, queue);
	if (list_is_empty(&c->ikc.mark))
		ikc_look(c);
}
