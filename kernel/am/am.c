/* SPDX-License-Identifier: MIT
 *
 * Active messages: see am.h.
 */
#include <base/tune.h>
#include <base/str.h>
#include <kernel/cluster.h>
#include <kernel/thread/counts.h>
#include <kernel/thread/thread.h>

#define HEADER_BYTES (offsetof(struct am_call, args) - offsetof(struct am_call, bytes))

/*
 * The own cluster's number is asked of the HAL, whose inline functions then know that the doorbell
 * is a near one.
 */
hot_inline void
ring_home(const struct cluster *c)
{
	if (hal_peek32(&c->home_runs_users) != 0)
		hal_interrupt(KERNEL_CORE);
	else
		hal_notify(hal_cluster_id(), KERNEL_CORE);
}

void
am_ring_home(struct cluster *c)
{
	/* before the look at who runs there; a ticket needs none */
	hal_fence();
	ring_home(c);
}

/* The process may have died while the message travelled: then nothing happens any more. */
static long
serve(kcall_serve_fn *fn, struct kcall_args *args)
{
	if (!thread_is_alive(args->caller))
		return -E_CANCELED;
	return fn(args);
}

void
am_init(struct cluster *c, uint32_t *order, uint32_t slots)
{
	c->am.order = order;
	c->am.last = order + slots - 1;
	c->am.mask = slots - 1;
	c->am.next = order;
}

uint32_t
am_waiting(const struct am_queue *q)
{
	return (hal_load32(&q->ticket) - (uint32_t)(q->next - q->order)) & (uint32_t)q->mask;
}

bool
am_serve_call(struct cluster *c)
{
	struct am_queue *q = &c->am;
	uint32_t *place = q->next;
	int sender = (int)hal_load32(place) - 1;
	struct am_call *call;

	if (sender < 0)
		return false;
	hal_store32(place, 0);
	q->next = place == q->last ? q->order : place + 1;
	q->served++;
	call = &core_at(c, sender)->call;
	hal_acquire(&call->bytes, HEADER_BYTES);
	hal_acquire(&call->args, call->bytes);
	call->result = serve(call->fn, &call->args);
	hal_publish(&call->args, call->bytes);
	hal_publish(&call->result, sizeof(call->result));
	hal_store32(&call->busy, 0);
	hal_notify(hal_cluster_id(), (unsigned)sender);
	return true;
}

bool
am_serve_posts(struct core *core)
{
	struct am_post *post = &core->post;

	if (!hal_load32(&post->busy))
		return false;
	do {
		hal_acquire(&post->bytes, sizeof(*post) - offsetof(struct am_post, bytes));
		post->fn(core, post->data);
		core_counts(core, CORE_MESSAGES);
		hal_store32(&post->busy, 0);
		am_ring_home(core->cluster);
	} while (hal_load32(&post->busy));
	return true;
}

bool
am_serve(struct core *core)
{
	uint32_t served = 0;

	if (!core_is_home(core))
		return am_serve_posts(core);
	while (served < am_senders(core->cluster) && am_serve_call(core->cluster))
		served++;
	return served > 0;
}

int
am_post(struct core *to, am_post_fn *fn, const void *data, uint32_t bytes)
{
	struct am_post *post = &to->post;

	if (bytes > AM_DATA)
		return -E_2BIG;
	if (hal_load32(&post->busy))
		return -E_AGAIN;
	post->fn = fn;
	post->bytes = bytes;
	memcpy(post->data, data, bytes);
	hal_publish(&post->bytes, sizeof(*post) - offsetof(struct am_post, bytes));
	hal_store32(&post->busy, 1);
	return 0;
}

/* Until home has answered, or there is something in the own inbox. */
hot_inline void
wait_once(struct core *core, struct am_call *call)
{
	hal_wait_begin();
	if (!hal_load32(&call->busy) || hal_load32(&core->post.busy))
		hal_wait_cancel();
	else
		hal_wait(HAL_FOREVER);
}

__attribute__((noinline)) void
am_wait(const uint32_t *busy, const uint32_t *mine)
{
	hal_wait_begin();
	if (hal_load32(busy) == 0 || hal_load32(mine) != 0)
		hal_wait_cancel();
	else
		hal_wait(HAL_FOREVER);
}

/*
 * The rest of a wait in which something came. What that did may be that the core is a TC now: its
 * own doorbell, for a look around on the way back to the user, was for this wait.
 */
static __attribute__((noinline)) void
wait_serving(struct core *core, struct am_call *call)
{
	am_serve_posts(core);
	while (hal_load32(&call->busy)) {
		am_wait(&call->busy, &core->post.busy);
		am_serve_posts(core);
	}
	if (core_is_shared(core))
		hal_interrupt(core->id);
}

/*
 * Wait until home has answered; meanwhile the own inbox is served, for home may need us before it
 * can answer others.
 */
hot_inline void
call_wait(struct core *core, struct am_call *call)
{
	do {
		wait_once(core, call);
		if (unlikely(hal_load32(&core->post.busy))) {
			wait_serving(core, call);
			return;
		}
	} while (hal_load32(&call->busy));
}

/*
 * On home itself: what was sent before comes first. The caller may go on for long, and what it has
 * begun needs home's rounds; only for a deadline it waits itself.
 */
static long
call_directly(struct core *core, kcall_serve_fn *fn, struct kcall_args *args)
{
	struct cluster *c = core->cluster;
	uint32_t others;
	long result;

	am_serve(core);
	others = c->chores - c->deadlines.count;
	c->am.served++;
	result = serve(fn, args);
	if (c->chores - c->deadlines.count > others)
		hal_interrupt(core->id);
	return result;
}

hot_inline long
call_home(struct core *core, kcall_serve_fn *fn, struct kcall_args *args, uint32_t bytes)
{
	struct cluster *c = core->cluster;
	struct am_call *call = &core->call;
	uint32_t ticket;

	call->fn = fn;
	call->bytes = bytes;
	hal_publish(&call->bytes, HEADER_BYTES);
	hal_publish(args, bytes);
	hal_store32(&call->busy, 1);
	ticket = hal_add32(&c->am.ticket, 1);
	hal_store32(&c->am.order[(uintptr_t)(intptr_t)(int32_t)ticket & c->am.mask], core->id + 1);
	ring_home(c);
	call_wait(core, call);
	hal_acquire(args, bytes);
	hal_acquire(&call->result, sizeof(call->result));
	return call->result;
}

/* An upcall's doorbell may have ended the wait: it rings again on the way back to the user. */
static __attribute__((noinline)) void
upcall_is_there(const struct core *core, uint32_t why)
{
	if ((why & UPCALL_COUNT) != 0)
		counts_call(core->call.args.caller);
	if ((why & ~UPCALL_COUNT) != 0)
		hal_interrupt(core->id);
}

hot_inline void
look_for_upcall(const struct core *core)
{
	uint32_t why = thread_upcall(core->call.args.caller);

	if (unlikely(why != 0))
		upcall_is_there(core, why);
}

/*
 * On a TC. What became ready while the call waited for its answer rang the doorbell, and the wait
 * may have taken that: it is rung again, for the way back to the user.
 */
static __attribute__((noinline)) long
call_shared(struct core *core, kcall_serve_fn *fn, struct kcall_args *args, uint32_t bytes)
{
	long result;

	if (core_is_home(core)) {
		result = call_directly(core, fn, args);
		if (unlikely((thread_upcall(args->caller) & UPCALL_COUNT) != 0))
			upcall_is_there(core, UPCALL_COUNT);
		return result;
	}
	result = call_home(core, fn, args, bytes);
	if (hal_load32(&core->ready.put) != core->ready.got)
		hal_interrupt(core->id);
	look_for_upcall(core);
	return result;
}

long
am_call_kernel(struct core *core, kcall_serve_fn *fn, struct kcall_args *args, uint32_t bytes)
{
	long result;

	if (bytes > sizeof(*args))
		return -E_2BIG;
	if (core_is_shared(core))
		return call_shared(core, fn, args, bytes);
	result = call_home(core, fn, args, bytes);
	look_for_upcall(core);
	return result;
}

long
am_call_last(struct core *core, kcall_serve_fn *fn, struct kcall_args *args, uint32_t bytes)
{
	return core_is_home(core) ? call_directly(core, fn, args) :
		call_home(core, fn, args, bytes);
}
