/* SPDX-License-Identifier: MIT
 *
 * A core runs threads: see run.h. Threads of an application core are cooperative among themselves:
 * the one that runs goes on until it waits, yields or ends.
 */
#include <base/tune.h>
#include <hal/timer.h>
#include <kernel/call/handler.h>
#include <kernel/call/kcall_core.h>
#include <kernel/dev/console.h>
#include <kernel/ikc/channel.h>
#include <kernel/mem/clear.h>
#include <kernel/mem/mapping.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/counts.h>
#include <kernel/thread/move.h>
#include <kernel/thread/role.h>
#include <kernel/thread/run.h>
#include <kernel/thread/thread.h>

/* how long a thread of a TC runs while others of its priority wait */
#define QUANTUM_NS 10000000u

void
run_queue_init(struct core *core)
{
	core->run_queue.levels = 0;
	for (int i = 0; i < PRIORITIES; i++)
		list_init(&core->run_queue.level[i]);
	core->quantum_end = core->tick = HAL_FOREVER;
}

/* Number of the highest bit; there is one. */
hot_inline uint32_t
highest_level(uint32_t levels)
{
	_Static_assert(PRIORITIES == 4, "levels");
	return levels >= 4 ? 2 + (levels >= 8) : levels >> 1;
}

/* Which of a core's queues a thread belongs into, now that something will be in it. */
hot_inline struct list *
queue_of(struct core *core, const struct thread *t)
{
	int level = (int)hal_peek32(&t->priority);

	core->run_queue.levels |= (uint32_t)1 << level;
	return &core->run_queue.level[level];
}

/* The level is empty if its last thread has just been taken out. */
hot_inline void
level_look(struct run_queue *q, uint32_t level)
{
	if (likely(list_is_empty(&q->level[level])))
		q->levels &= ~((uint32_t)1 << level);
}

static void
thread_requeue(struct core *core, struct thread *t)
{
	t->resume = RESUME_FRAME;
	list_push_back(queue_of(core, t), &t->run);
}

/* Move the threads up to `put` of the ready ring, which are not none, to the run queue. */
static __attribute__((noinline)) void
drain(struct core *core, uint32_t put)
{
	struct cluster *c = core->cluster;
	struct ready_ring *r = &core->ready;
	uint32_t got = r->got;

	r->got = put;
	do {
		uint16_t *slot = &r->slot[(int32_t)(got & r->mask)];
		uintptr_t *place;
		struct thread *t;
		uint32_t what;

		hal_acquire(slot, sizeof(*slot));
		what = *slot;
		place = &c->thread[what >> 1];
		hal_acquire(place, sizeof(*place));
		t = (struct thread *)*place;
		if (unlikely((what & READY_FIRST) != 0)) {
			hal_acquire(t, offsetof(struct thread, state));
			hal_acquire(t->handler, t->handler != NULL ? sizeof(*t->handler) : 0);
			hal_acquire(&t->proc->space, offsetof(struct process, state));
			t->resume = RESUME_FRAME;
		} else {
			hal_acquire(&t->wake_result, offsetof(struct thread, state) -
				offsetof(struct thread, wake_result));
		}
		list_push_back(queue_of(core, t), &t->run);
	} while (++got != put);
}

hot_inline void
drain_if_any(struct core *core)
{
	uint32_t put = hal_load32(&core->ready.put);

	if (unlikely(put != core->ready.got))
		drain(core, put);
}

void
ready_drain(struct core *core)
{
	drain_if_any(core);
}

/* What only the home core looks after. */
hot_inline bool
home_is_quiet(const struct cluster *c)
{
	return likely(c->chores == 0) && likely(ikc_is_quiet(&c->ikc));
}

/* What a sweep leads to is next. */
enum chore { CHORE_SWEEPS, CHORE_REAP, CHORE_DEADLINES, CHORE_EVENTS, CHORE_WAITS, CHORE_PEERS,
	CHORE_CONSOLE, CHORE_ORPHAN, CHORE_MEMORY, CHORE_ROLES, CHORES };

/*
 * One step of a chore, which remembers itself where it stopped. False if there was nothing to do.
 */
static bool
chore_step(struct cluster *c, enum chore chore)
{
	switch (chore) {
	case CHORE_SWEEPS:
		return !list_is_empty(&c->sweeps.running) && sweeps_poll(c);
	case CHORE_REAP:
		return !list_is_empty(&c->reaping) && proc_reap(c);
	case CHORE_DEADLINES:
		return unlikely(c->deadlines.count > 0) && deadlines_poll(c);
	case CHORE_EVENTS:
		return ikc_poll(c);
	case CHORE_WAITS:
		return ikc_look(c);
	case CHORE_PEERS:
		return peers_poll(c);
	case CHORE_CONSOLE:
		return console_poll(c);
	case CHORE_ORPHAN:
		return c->orphans != 0 && proc_end_orphan(c);
	case CHORE_MEMORY:
		return memory_drop_some(c) || revokes_poll(c) || channels_poll(c) || clear_poll(c);
	default:
		return unlikely(c->untold != 0) && roles_poll(c);
	}
}

/*
 * One step of the next chore that has something to do: what others wait for comes between two
 * steps. False if there was nothing.
 */
static __attribute__((noinline)) bool
home_work(struct cluster *c, uint32_t activity)
{
	bool any = false;

	for (unsigned n = 0; n < CHORES && !any; n++) {
		c->chore = c->chore + 1 < CHORES ? c->chore + 1 : 0;
		any = chore_step(c, (enum chore)c->chore);
	}
	if (!any)
		c->ikc.looked = activity;
	c->unfinished = any;
	return any;
}

/* Apart, so that what comes before it needs no frame. */
static __attribute__((noinline)) bool
home_sweeps(struct cluster *c)
{
	c->chore = CHORE_SWEEPS;
	c->unfinished = sweeps_poll(c);
	return c->unfinished;
}

/*
 * Home is not quiet: the same. Where there are but deadlines, of which none has come, and sweeps,
 * which mostly wait for what other cores say, it looks at the sweeps alone.
 */
static __attribute__((noinline)) bool
home_work_if_due(struct cluster *c)
{
	uint32_t activity = hal_load32(c->ikc.activity), others = c->chores - c->deadlines.count;

	if (others != c->sweeps.sent || activity != c->ikc.looked ||
		(others != c->chores && hal_clock_ns() >= c->deadlines.heap[0]->until))
		return home_work(c, activity);
	return others != 0 ? home_sweeps(c) : (c->unfinished = false);
}

hot_inline bool
ready_is_empty(const struct core *core)
{
	return hal_load32(&core->ready.put) == core->ready.got;
}

/*
 * Home serves messages, and between two of them one step of whatever else waits for it. After as
 * many as there are senders it goes on to its threads, so that cores that keep calling keep nothing
 * else waiting: what is left is announced anew. Where there was nothing to do it looks again behind
 * the next message only.
 */
static __attribute__((noinline)) void
home_round(struct cluster *c)
{
	uint32_t left = am_senders(c);
	bool served, some = true;

	do {
		served = am_serve_call(c);
		some = (served || some) && unlikely(!home_is_quiet(c)) && home_work_if_due(c);
	} while ((served || some) && --left > 0);
	if (unlikely(left == 0))
		am_ring_home(c);
}

hot_inline void
look_around(struct core *core)
{
	if (core_is_home(core))
		home_round(core->cluster);
	else if (hal_peek32(&core->post.busy) != 0)
		am_serve_posts(core);
	drain_if_any(core);
}

__attribute__((noinline)) void
core_work(struct core *core)
{
	look_around(core);
}

/* Apart, so that going on in the same space needs no more registers. */
static __attribute__((noinline)) void
use_space(struct core *core, struct hal_space *space)
{
	hal_space_use(space);
	core->space = space;
	hal_store32(&core->knows, SPACE_NAME(space));
}

void
core_leave_space(struct core *core)
{
	use_space(core, NULL);
}

void
core_enter_space(struct core *core)
{
	use_space(core, &core->current->proc->space);
}

static uint64_t
earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* When home's chores are due if nothing comes before. */
static uint64_t
home_deadline(struct cluster *c)
{
	return earlier(earlier(peers_deadline(c), console_deadline(c)), deadlines_first(c));
}

/* What home can do now needs no tick: a round that left some of it has rung home. */
static __attribute__((noinline)) uint64_t
home_follow(struct cluster *c, uint64_t at)
{
	return home_is_quiet(c) ? at : earlier(at, home_deadline(c));
}

/* Arm the tick for what comes first: the end of the quantum, or what home must do at a time. */
static void
tick_follow(struct core *core)
{
	uint64_t at = core->quantum_end;

	if (core_is_home(core))
		at = home_follow(core->cluster, at);
	if (at == core->tick)
		return;
	hal_timer_arm(at);
	core->tick = at;
}

/* Others became ready, or are gone: the current thread's quantum ends, or does not any more. */
static void
quantum_follow(struct core *core)
{
	if (core->run_queue.levels == 0)
		core->quantum_end = HAL_FOREVER;
	else if (core->quantum_end == HAL_FOREVER)
		core->quantum_end = hal_clock_ns() + QUANTUM_NS;
	tick_follow(core);
}

/* A thread of a TC is about to run. */
hot_inline void
quantum_begin(struct core *core, struct thread *t)
{
	uint32_t left = t->quantum_left != 0 ? t->quantum_left : QUANTUM_NS;

	t->quantum_left = 0;
	core->quantum_end = core->run_queue.levels != 0 ? hal_clock_ns() + left : HAL_FOREVER;
	tick_follow(core);
}

__attribute__((noinline)) void
tick_stop(struct core *core)
{
	hal_timer_arm(HAL_FOREVER);
	core->quantum_end = core->tick = HAL_FOREVER;
}

/*
 * The current thread's quantum is not over: it keeps the rest, and comes first among those of its
 * priority.
 */
static void
cut_short(struct core *core, struct thread *t, uint64_t now)
{
	t->resume = RESUME_FRAME;
	t->quantum_left = core->quantum_end == HAL_FOREVER ? 0 :
		(uint32_t)(core->quantum_end - now);
	list_push_front(queue_of(core, t), &t->run);
}

/* If another thread's turn has come, the current one goes back into the run queue. */
static bool
give_way(struct core *core)
{
	uint64_t now;

	if (core->run_queue.levels == 0)
		return false;
	now = hal_clock_ns();
	if (now >= core->quantum_end)
		thread_requeue(core, core->current);
	else if (highest_level(core->run_queue.levels) > hal_load32(&core->current->priority))
		cut_short(core, core->current, now);
	else
		return false;
	return true;
}

void
core_publish(const struct thread *t)
{
	hal_publish(t, offsetof(struct thread, cluster));
	hal_publish(t->handler, t->handler != NULL ? sizeof(*t->handler) : 0);
}

__attribute__((noinline)) void
core_drop_current(struct core *core)
{
	struct sweep *s = core->doomed;

	if (core->current != NULL) {
		counts_look(core->current, RUN_SWITCHES);
		core_publish(core->current);
	}
	core->current = NULL;
	if (s == NULL)
		return;
	core->doomed = NULL;
	core_leave_space(core);
	sweep_acknowledge(core->cluster, s);
}

/* Take the threads of a process out of a level of the run queue. */
static void
level_evict(struct core *core, uint32_t level, const struct process *p)
{
	struct list *node, *after;

	list_each(node, after, &core->run_queue.level[level]) {
		struct thread *t = list_entry(node, struct thread, run);

		if (t->proc != p)
			continue;
		list_remove(node);
		core_publish(t);
	}
	level_look(&core->run_queue, level);
}

void
core_evict(struct core *core, const void *data)
{
	const struct sweep_post *post = data;

	ready_drain(core);
	for (uint32_t i = 0; i < PRIORITIES; i++)
		level_evict(core, i, post->proc);
	if (core_is_shared(core) && core->current != NULL)
		quantum_follow(core);
	if (core->current != NULL && core->current->proc == post->proc) {
		core->doomed = post->sweep;
		return;
	}
	if (core->space == &post->proc->space)
		core_leave_space(core);
	sweep_acknowledge(core->cluster, post->sweep);
}

void
core_takes_up(struct core *core)
{
	if (core_is_shared(core))
		quantum_begin(core, core->current);
	if (unlikely(thread_upcall(core->current) != 0))
		hal_interrupt(core->id);
}

static void
enter_space(struct core *core, struct hal_space *space)
{
	if (unlikely(core->space != space))
		use_space(core, space);
}

/*
 * Home half of core_park. The wait may have ended meanwhile: then the thread is in our ready ring;
 * or it is about to, by an upcall.
 */
static long
park_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;
	uint64_t until;

	__builtin_memcpy(&until, args->data, sizeof(until));
	if (t->state == THREAD_WAITING && t->wait.deadline.place == 0)
		deadline_set(t->cluster, &t->wait.deadline, until);
	return 0;
}

static __attribute__((noinline)) void
park_until(struct core *core, const struct thread *t)
{
	struct kcall_args *args = kcall_args(core);

	args->caller = core->current;
	__builtin_memcpy(args->data, &t->until, sizeof(t->until));
	am_call_kernel(core, park_serve, args,
		offsetof(struct kcall_args, data) + sizeof(t->until));
}

void
core_park(struct core *core, const struct thread *t)
{
	if (unlikely(t->until < DEADLINE_NEVER))
		park_until(core, t);
}

/*
 * The second half of the thread's call, which has a result then, or waits again (and has set
 * `resume` anew).
 */
static __attribute__((noinline)) long
finish_call(struct core *core, struct thread *t)
{
	long result;

	enter_space(core, &t->proc->space);
	result = t->finish(t->now, t->wake_result, t->wake_data);
	if (result == -E_PARK)
		core_park(core, t);
	return result;
}

/*
 * Leave the kernel to the current thread, after a look at its upcalls; returns if its process was
 * killed meanwhile, or if it goes on elsewhere.
 */
static void
enter_looking(struct core *core, struct thread *t)
{
	if (unlikely(thread_upcall(t) != 0)) {
		handler_upcall(core);
		if (core->doomed != NULL || core->current == NULL) {
			core_drop_current(core);
			return;
		}
	}
	hal_user_enter(t->now, core->space);
}

/* On a TC. */
static __attribute__((noinline)) void
enter_shared(struct core *core, struct thread *t)
{
	enter_space(core, &t->proc->space);
	quantum_begin(core, t);
	enter_looking(core, t);
}

/* On another core, where its space is not the one in use, or an upcall has come. */
static __attribute__((noinline)) void
enter_otherwise(struct core *core, struct thread *t)
{
	enter_space(core, &t->proc->space);
	enter_looking(core, t);
}

/* The current thread's call is complete: leave the kernel to it. Returns as enter_looking. */
hot_inline void
enter_user(struct core *core, struct thread *t)
{
	struct hal_space *space = core->space;

	if (unlikely(core_is_shared(core)))
		enter_shared(core, t);
	else if (unlikely(space != &t->proc->space) || unlikely(thread_upcall(t) != 0))
		enter_otherwise(core, t);
	else
		hal_user_enter(t->now, space);
}

/*
 * The call that the thread waited in has a second half. The thread does not go on if that waits
 * again, or if its process was killed meanwhile.
 */
static __attribute__((noinline)) void
enter_finishing(struct core *core, struct thread *t)
{
	long result = finish_call(core, t);

	if (result != -E_PARK) {
		hal_frame_set_result(t->now, result);
		if (core->doomed == NULL) {
			enter_user(core, t);
			return;
		}
	}
	core_drop_current(core);
}

/* Leave the kernel to a thread; returns if that does not go on. */
static __attribute__((noinline)) void
thread_enter(struct core *core, struct thread *t)
{
	enum resume how = t->resume;

	core->current = t;
	t->resume = RESUME_RESULT;
	if (unlikely(how > RESUME_RESULT)) {
		enter_finishing(core, t);
		return;
	}
	if (how == RESUME_RESULT) {
		hal_frame_set_result(t->now, t->wake_result);
		if (unlikely(core->doomed != NULL)) {
			core_drop_current(core);
			return;
		}
	}
	enter_user(core, t);
}

/*
 * Home has chores: see to them once more, then sleep until the next is due. Where the last round
 * left some, the next comes first: two steps without a look at the queue would keep messages
 * waiting for both. False: it has not slept.
 */
static __attribute__((noinline)) bool
wait_with_chores(struct cluster *c)
{
	if (c->unfinished || home_work_if_due(c)) {
		hal_wait_cancel();
		return false;
	}
	hal_wait(home_deadline(c));
	return true;
}

/* Somebody has asked how long the core is idle, which it is from now on, or no more. */
static __attribute__((noinline)) void
idle_turns(struct core *core)
{
	uint32_t idle = hal_peek32(&core->count[CORE_IDLE]),
		now = CORE_IDLE_CLOCK(hal_clock_ns());

	if ((idle & 1) == 0)
		now = -now;
	hal_store32(&core->count[CORE_IDLE], idle + now);
}

hot_inline void
idle_begins(struct core *core)
{
	if (unlikely(hal_peek32(&core->count[CORE_IDLE]) != 0))
		idle_turns(core);
}

/* It may have been asked for in between. */
hot_inline void
idle_ends(struct core *core)
{
	if (unlikely((hal_peek32(&core->count[CORE_IDLE]) & 1) != 0))
		idle_turns(core);
}

/*
 * Wait for something to do: after the last look at every source, before which the wait was
 * announced. A core that is woken by a message alone serves it and waits again at once.
 */
static __attribute__((noinline)) void
home_wait(struct core *core, struct cluster *c)
{
	do {
		hal_wait_begin();
		if (hal_load32(c->am.next) != 0 || !ready_is_empty(core) ||
			!ikc_is_quiet(&c->ikc)) {
			hal_wait_cancel();
			return;
		}
		if (c->chores == 0)
			hal_wait(HAL_FOREVER);
		else if (!wait_with_chores(c))
			return;
	} while (likely(am_serve_call(c)) && likely(core->run_queue.levels == 0));
	paths_meet();
}

/* Wait for something to do; whoever calls looks at every source then. */
static __attribute__((noinline)) void
core_wait(struct core *core)
{
	if (unlikely(core->tick != HAL_FOREVER))
		tick_stop(core);
	if (core_is_home(core)) {
		home_wait(core, core->cluster);
		return;
	}
	hal_wait_begin();
	if (hal_load32(&core->post.busy) != 0 || !ready_is_empty(core))
		hal_wait_cancel();
	else
		hal_wait(HAL_FOREVER);
}

/* The thread that runs next; there is one. */
hot_inline struct thread *
run_queue_take(struct core *core)
{
	struct run_queue *q = &core->run_queue;
	uint32_t level = highest_level(q->levels);
	struct list *first = q->level[level].next;

	list_remove(first);
	level_look(q, level);
	return list_entry(first, struct thread, run);
}

/* The core has just looked around: it leaves to a thread, or waits for one. */
static _Noreturn void
core_go_on(struct core *core)
{
	for (;;) {
		if (unlikely(core->run_queue.levels != 0)) {
			thread_enter(core, run_queue_take(core));
		} else {
			idle_begins(core);
			core_wait(core);
			idle_ends(core);
		}
		look_around(core);
	}
}

_Noreturn void
core_loop(struct core *core)
{
	core_work(core);
	core_go_on(core);
}

void
core_yield(struct core *core)
{
	core_work(core);
	if (core->doomed != NULL || core->run_queue.levels == 0)
		return;
	thread_requeue(core, core->current);
	counts_look(core->current, RUN_SWITCHES);
	core->current = NULL;
	core_go_on(core);
}

void
core_interrupted(struct core *core, bool tick)
{
	if (tick) {
		core_counts(core, CORE_TICKS);
		core->tick = HAL_FOREVER;
		if (core->run_queue.levels != 0)
			thread_spreads(core);
	}
	look_around(core);
	if (!core_is_shared(core) || core->doomed != NULL)
		return;
	if (give_way(core)) {
		counts_look(core->current, RUN_PREEMPTED);
		core_publish(core->current);
		core_go_on(core);
	}
	quantum_follow(core);
}

_Noreturn void
core_leave(struct core *core)
{
	core_drop_current(core);
	core_loop(core);
}
