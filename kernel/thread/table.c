/* SPDX-License-Identifier: MIT
 *
 * The records of threads, their places in the thread table, and the cores they are placed on. Home.
 */
#include <base/str.h>
#include <base/tune.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/alarm.h>
#include <kernel/thread/counts.h>
#include <kernel/thread/role.h>
#include <kernel/thread/thread.h>

struct thread *
thread_find(struct cluster *c, int tid)
{
	uint32_t place = ID_INDEX(tid);
	struct thread *t;

	if (tid <= 0 || place >= c->threads_used)
		return NULL;
	t = thread_at(c, place);
	return t != NULL && t->state != THREAD_FREE && t->tid == tid ? t : NULL;
}

/*
 * A thread gets a place of the table, and by that its number. There is one, for the cluster's
 * account has no more threads.
 */
static void
place_take(struct cluster *c, struct thread *t)
{
	uint32_t place = c->threads_free, generation = c->thread_generation;

	if (likely(place < c->threads_max))
		c->threads_free = (uint32_t)(c->thread[place] >> 1);
	else
		place = c->threads_used++;
	c->thread[place] = (uintptr_t)t;
	hal_publish(&c->thread[place], sizeof(c->thread[place]));
	generation = likely(generation < ID_GENERATION_MAX) ? generation + 1 : 1;
	c->thread_generation = generation;
	t->tid = (int)(generation << ID_INDEX_BITS | place);
}

static void
place_give(struct cluster *c, uint32_t place)
{
	c->thread[place] = THREAD_PLACE_FREE(c->threads_free);
	c->threads_free = place;
}

/*
 * A record with a place in the table, charged to an account. 0 and *thread; -E_NOSPC: no place;
 * -E_NOMEM: no memory.
 */
static long
record_take(struct cluster *c, struct quota *q, struct thread **thread)
{
	struct thread *t;
	void *record;
	long e = quota_take_thread(q, &c->slab, &record);

	if (unlikely(e != 0))
		return e;
	t = record;
	memset(&t->now, 0, offsetof(struct thread, sweep) - offsetof(struct thread, now));
	hal_publish(t, sizeof(*t));	/* from here on the parts have their own writers */
	place_take(c, t);
	t->cluster = c;
	t->now = &t->frame;
	object_init(&t->object, OBJECT_THREAD);
	list_init(&t->joiners);
	list_init(&t->wait.link);
	*thread = t;
	return 0;
}

static void
record_give(struct thread *t, struct quota *q)
{
	struct cluster *c = t->cluster;

	place_give(c, ID_INDEX(t->tid));
	quota_give_thread(q, &c->slab, t);
}

/* A thread leaves its process. */
static void
leave_process(struct thread *t)
{
	bitmap_clear(t->proc->indexes, t->index);
	if (t->index < t->proc->index_floor)
		t->proc->index_floor = t->index;
	list_remove(&t->siblings);
	if (unlikely(t->made != NULL))
		handler_record_free(t);
	if (unlikely(t->missed_slot != NULL))
		list_remove(&t->missed);
	t->state = THREAD_FREE;
	t->cluster->threads_live--;
}

void
thread_release(struct thread *t)
{
	leave_process(t);
	object_get(&t->object);
	handle_close_own(&t->proc->handles, t->handle, &t->object);
	object_put(&t->object);
}

/* A thread that runs without a handle goes on; when it ends nothing of it stays. */
void
thread_unreferenced(struct thread *t)
{
	if (t->state == THREAD_ZOMBIE)
		leave_process(t);
	if (t->state == THREAD_FREE)
		record_give(t, t->proc->quota);
}

bool
core_runs_users(const struct core *core)
{
	return (core->role == ROLE_AC) | (core->role == ROLE_TC);
}

void
thread_unplace(struct thread *t)
{
	struct core *core = t->core;
	uint32_t load = --core->load;

	t->proc->placed[core->id]--;
	if (unlikely(load < core->cluster->load_floor) &&
		likely(core_runs_users(core) && !core_is_home(core)))
		core->cluster->load_floor = load;
	if (unlikely(core->is_crowded) && load == 0)
		role_empty(core);
}

void
thread_replace(struct thread *t, struct core *to)
{
	struct process *p = t->proc;

	thread_unplace(t);
	t->core = to;
	to->load++;
	p->placed[to->id]++;
	bitmap_set(p->cores, to->id);
}

/* Is this core among those on which threads of the process are placed? */
hot_inline bool
may_use(const struct process *p, uint32_t core)
{
	return core - p->core_first < p->core_count;
}

/*
 * A TC, for a process of whose cores none but home runs threads: home if it is one, and there is
 * always one.
 */
static __attribute__((noinline)) struct core *
any_shared(struct cluster *c)
{
	uint32_t i = 0;

	while (i < c->cores - 1 && core_at(c, i)->role != ROLE_TC)
		i++;
	return core_at(c, i);
}

__attribute__((noinline)) struct core *
core_by_order(const struct cluster *c, const struct process *p, uint32_t n)
{
	const struct boot_policy *o = c->core_order;

	return core_at(c, o == NULL ? n :
		(uint32_t)o->core_order[p->domain * DOMAINS_MAX + (n >> o->core_bits)] <<
		o->core_bits | (n & ((1u << o->core_bits) - 1)));
}

/* The first of those with the fewest threads, in the order of the process's domain. */
static __attribute__((noinline)) struct core *
look_in_order(struct cluster *c, const struct process *p)
{
	struct core *best = NULL;

	for (uint32_t n = 0; n < c->cores; n++) {
		struct core *core = core_by_order(c, p, n);

		if (may_use(p, core->id) && core_runs_users(core) && !core_is_home(core) &&
			(best == NULL || core->load < best->load))
			best = core;
	}
	return best != NULL ? best : any_shared(c);
}

/*
 * Looks from a place, and no further than to a core that is as empty as any can be; home only if
 * there is no other.
 */
static __attribute__((noinline)) struct core *
look_for_least_loaded(struct cluster *c, const struct process *p, uint32_t at)
{
	struct core *best = NULL;

	if (c->floor_first != p->core_first || c->floor_count != p->core_count)
		c->load_floor = 0;
	c->floor_first = p->core_first;
	c->floor_count = p->core_count;
	for (uint32_t n = 0; n < p->core_count; n++) {
		struct core *core = core_at(c, at);

		at = likely(may_use(p, at + 1)) ? at + 1 : p->core_first;
		if (likely(core_runs_users(core)) && likely(!core_is_home(core))) {
			if (best == NULL || core->load < best->load)
				best = core;
			paths_meet();
			if (best->load <= c->load_floor)
				break;
		}
		paths_meet();
	}
	if (best == NULL)
		return any_shared(c);
	c->load_floor = best->load;
	return best;
}

/*
 * The application core of the process with the fewest threads, from a rotating place on: mostly the
 * first that is looked at.
 */
static struct core *
least_loaded(struct cluster *c, const struct process *p)
{
	uint32_t at = likely(may_use(p, c->next_core)) ? c->next_core : p->core_first;
	struct core *best = core_at(c, at);

	if (unlikely(c->core_order != NULL))
		return look_in_order(c, p);
	if (unlikely(!core_runs_users(best)) || unlikely(core_is_home(best)) ||
		unlikely(best->load > c->load_floor) ||
			unlikely(c->floor_first != p->core_first) ||
			unlikely(c->floor_count != p->core_count))
		best = look_for_least_loaded(c, p, at);
	if (likely(!core_is_home(best)))
		c->next_core = best->id + 1;
	return best;
}

uint32_t
domain_near(struct cluster *c, const struct process *p)
{
	return likely(c->core_order == NULL) ? 0 :
		look_in_order(c, p)->id >> c->core_order->core_bits;
}

static struct core *
core_choose(struct cluster *c, const struct process *p, int core)
{
	if (likely(core == ANY_CORE))
		return least_loaded(c, p);
	if (!may_use(p, (uint32_t)core) || !core_runs_users(core_at(c, core)))
		return NULL;
	return core_at(c, core);
}

struct core *
core_among(struct process *p, uint32_t first, uint32_t count)
{
	struct cluster *c = proc_cluster(p);
	struct core *best = NULL;

	if (first >= c->cores || count > c->cores - first)
		return NULL;
	for (uint32_t i = first; i < first + count; i++) {
		struct core *core = core_at(c, i);

		if (may_use(p, i) && core_runs_users(core) &&
			(best == NULL || core->load < best->load))
			best = core;
	}
	return best;
}

int
thread_named(struct thread *caller, int handle, unsigned rights, struct thread **thread)
{
	struct handles *h = &caller->proc->handles;
	struct object *o = handle_get_far(h, handle, HANDLE_KIND(OBJECT_THREAD, rights));

	if (o == NULL)
		return (int)handle_error(h, handle, OBJECT_THREAD);
	*thread = list_entry(o, struct thread, object);
	return thread_lives(*thread) ? 0 : -E_SRCH;
}

/* A record and the thread's handle. 0 and *thread, or an error. */
static long
named_record_take(struct process *p, struct cluster *c, struct thread **thread)
{
	struct thread *t;
	long handle = record_take(c, p->quota, &t);

	if (unlikely(handle != 0))
		return handle;
	handle = handle_new(&p->handles, &t->object, THREAD_RIGHTS);
	if (unlikely(handle < 0)) {
		record_give(t, p->quota);
		return handle;
	}
	t->handle = (int)handle;
	*thread = t;
	return 0;
}

long
thread_make(struct process *p, struct core *at, struct thread **thread)
{
	struct cluster *c = at->cluster;
	struct thread *t;
	long e = named_record_take(p, c, &t);

	if (unlikely(e != 0))
		return e;
	t->proc = p;
	t->core = at;
	hal_store32(&t->priority, p->priority);
	t->index = (uint32_t)bitmap_find_clear(p->indexes, c->threads_max, p->index_floor);
	bitmap_set(p->indexes, t->index);
	p->index_floor = t->index + 1;
	list_push_back(&p->threads, &t->siblings);
	c->threads_live++;
	p->live++;
	at->load++;
	p->placed[at->id]++;
	bitmap_set(p->cores, at->id);
	*thread = t;
	return 0;
}

long
thread_new(struct process *p, const struct context *ctx, int core)
{
	struct core *at = core_choose(proc_cluster(p), p, core);
	struct thread *t;
	long e;

	if (unlikely(at == NULL) || unlikely(!hal_context_ok(ctx)))
		return -E_INVAL;
	e = thread_make(p, at, &t);
	if (unlikely(e != 0))
		return e;
	hal_store32(&t->is_pinned, core != ANY_CORE);
	if (unlikely(at->load != p->placed[at->id]))
		role_crowd(t);
	if (unlikely(p->counts.begun_ns != 0))
		counts_make(t);
	hal_frame_new(&t->frame, ctx);
	thread_launch(t);
	return t->handle;
}
