/* SPDX-License-Identifier: MIT
 *
 * The thread table and the placement of threads on cores. Home core.
 */
#include <base/str.h>
#include <base/tune.h>
#include <kernel/call/handler.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/thread.h>

struct thread *
thread_find(struct cluster *c, int tid)
{
	uint32_t i = ID_INDEX(tid);
	struct thread *t = &c->thread[i];

	if (tid <= 0 || i >= c->threads_used || t->state == THREAD_FREE || t->tid != tid)
		return NULL;
	return t;
}

/* An entry of the table, cleared but for its generation, charged to an account; NULL if the table or the account is full. */
static struct thread *
entry_take(struct cluster *c, struct quota *q)
{
	struct list *node;
	struct thread *t;
	uint32_t generation = 0, index;

	if (unlikely(!quota_charge(q, QUOTA_THREADS, 1)))
		return NULL;
	node = list_pop_front(&c->threads_free);
	if (likely(node != NULL)) {
		t = list_entry(node, struct thread, siblings);
		generation = t->generation;
		index = ID_INDEX(t->tid);
	} else {
		index = c->threads_used++;	/* no more than the cluster's account has */
		t = &c->thread[index];
	}
	memset(t, 0, sizeof(*t));
	hal_publish(t, sizeof(*t));	/* from here on the parts have their own writers */
	t->generation = likely(generation < ID_GENERATION_MAX) ? generation + 1 : 1;
	t->tid = (int)(t->generation << ID_INDEX_BITS | index);
	t->cluster = c;
	t->now = &t->frame;
	object_init(&t->object, OBJECT_THREAD);
	list_init(&t->joiners);
	list_init(&t->wait.link);
	return t;
}

static void
entry_give(struct thread *t, struct quota *q)
{
	quota_refund(q, QUOTA_THREADS, 1);
	list_push_front(&t->cluster->threads_free, &t->siblings);
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
		handler_free(t);
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
		entry_give(t, t->proc->quota);
}

static bool
runs_users(const struct core *core)
{
	return (core->role == ROLE_AC) | (core->role == ROLE_TC);
}

void
thread_unplace(struct thread *t)
{
	struct core *core = t->core;
	uint32_t load = --core->load;

	t->proc->placed[core->id]--;
	if (unlikely(load < core->cluster->load_floor) && likely(runs_users(core) && !core_is_home(core)))
		core->cluster->load_floor = load;
}

/* Is this core among those on which threads of the process are placed? */
hot_inline bool
may_use(const struct process *p, uint32_t core)
{
	return core - p->core_first < p->core_count;
}

/* Looks from a place, and no further than to a core that is as empty as any can be; home only if there is no other. */
static __attribute__((noinline)) struct core *
look_for_least_loaded(struct cluster *c, const struct process *p, uint32_t at)
{
	struct core *best = NULL;

	if (c->floor_first != p->core_first || c->floor_count != p->core_count)
		c->load_floor = 0;
	c->floor_first = p->core_first;
	c->floor_count = p->core_count;
	for (uint32_t n = 0; n < p->core_count; n++) {
		struct core *core = &c->core[at];

		at = likely(may_use(p, at + 1)) ? at + 1 : p->core_first;
		if (likely(runs_users(core)) && likely(!core_is_home(core))) {
			if (best == NULL || core->load < best->load)
				best = core;
			paths_meet();
			if (best->load <= c->load_floor)
				break;
		}
		paths_meet();
	}
	if (best == NULL && p->core_first == KERNEL_CORE && runs_users(&c->core[KERNEL_CORE]))
		best = &c->core[KERNEL_CORE];
	else if (best != NULL)
		c->load_floor = best->load;
	return best;
}

/* The application core of the process with the fewest threads, from a rotating place on: mostly the first that is looked at. */
static struct core *
least_loaded(struct cluster *c, const struct process *p)
{
	uint32_t at = likely(may_use(p, c->next_core)) ? c->next_core : p->core_first;
	struct core *best = &c->core[at];

	if (unlikely(!runs_users(best)) || unlikely(core_is_home(best)) || unlikely(best->load > c->load_floor) ||
			unlikely(c->floor_first != p->core_first) || unlikely(c->floor_count != p->core_count))
		best = look_for_least_loaded(c, p, at);
	if (likely(best != NULL) && likely(!core_is_home(best)))
		c->next_core = best->id + 1;
	return best;
}

static struct core *
core_choose(struct cluster *c, const struct process *p, int core)
{
	if (likely(core == ANY_CORE))
		return least_loaded(c, p);
	if (!may_use(p, (uint32_t)core) || !runs_users(&c->core[core]))
		return NULL;
	return &c->core[core];
}

/* A table entry and the thread's handle. 0 and *thread, or an error. */
static long
named_entry_take(struct process *p, struct cluster *c, struct thread **thread)
{
	struct thread *t = entry_take(c, p->quota);
	long handle;

	if (t == NULL)
		return -E_NOSPC;
	handle = handle_new(&p->handles, &t->object, THREAD_RIGHTS);
	if (unlikely(handle < 0)) {
		entry_give(t, p->quota);
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
	long e = named_entry_take(p, c, &t);

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
	hal_frame_from_context(&t->frame, ctx);
	thread_launch(t);
	return t->handle;
}
