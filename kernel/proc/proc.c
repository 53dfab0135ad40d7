/* SPDX-License-Identifier: MIT
 *
 * Life and end of processes: see proc.h.
 */
#include <base/str.h>
#include <kernel/mem/mem.h>
#include <kernel/proc/init.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/run.h>
#include <kernel/thread/thread.h>

/* What one step of the reaper does. */
#define HANDLES_PER_STEP 4
#define THREADS_LOOKED 128	/* for work under way */
#define THREADS_RELEASED 24

#define QUOTA_PART 4	/* of the cluster's memory: what the kernel holds on behalf of one tree of processes */

enum reap_stage { REAP_WORK, REAP_HANDLES, REAP_THREADS, REAP_MEMORY };

/* The account of a new process: its parent's, or a new one for a child of init. NULL: no memory. */
static struct quota *
account_of(struct cluster *c, const struct process *parent)
{
	if (parent == NULL || parent == c->init)
		return quota_new(&c->slab, (size_t)c->frames.total * HAL_PAGE_BYTES / QUOTA_PART);
	quota_get(parent->quota);
	return parent->quota;
}

/* What can fail of a new process. 0 or -E_NOMEM. */
static int
make_space_and_account(struct cluster *c, const struct process *parent, struct process *p)
{
	p->quota = account_of(c, parent);
	if (p->quota == NULL)
		return -E_NOMEM;
	memset(&p->space, 0, sizeof(p->space));
	if (hal_space_init(&p->space, &c->page_source) == 0)
		return 0;
	quota_put(&c->slab, p->quota);
	return -E_NOMEM;
}

int
proc_new(struct cluster *c, const struct process *parent, struct process **process)
{
	struct list *node = list_pop_front(&c->procs_free);
	struct process *p;

	if (node == NULL)
		return -E_NOSPC;
	p = list_entry(node, struct process, free);
	if (make_space_and_account(c, parent, p) != 0) {
		list_push_front(&c->procs_free, &p->free);
		return -E_NOMEM;
	}
	object_init(&p->object, OBJECT_PROCESS);
	handles_init(&p->handles, &c->slab, p->quota);
	p->generation = p->generation % ID_GENERATION_MAX + 1;
	p->id = (int)(p->generation << ID_INDEX_BITS | (uint32_t)(p - c->proc));
	p->badge = parent == NULL || parent == c->init ? (uint32_t)p->id : parent->badge;
	p->priority = parent != NULL && parent->priority < PRIORITY_PROGRAM ? parent->priority : PRIORITY_PROGRAM;
	p->swept = false;
	p->live = 0;
	p->index_floor = 0;
	p->claimed = 0;
	p->holds = 0;
	p->held = FRAME_NONE;
	p->events = NULL;
	p->personality = (struct personality){0, 0, 0};
	memset(p->indexes, 0, BITMAP_WORDS(c->threads_max) * sizeof(*p->indexes));
	memset(p->cores, 0, sizeof(p->cores));
	memset(p->placed, 0, (c->cores + c->guests) * sizeof(*p->placed));
	p->core_first = parent != NULL ? parent->core_first : 0;
	p->core_count = parent != NULL ? parent->core_count : c->cores;
	memset(&p->status, 0, sizeof(p->status));
	memset(&p->crash, 0, sizeof(p->crash));
	list_init(&p->threads);
	list_init(&p->waiters);
	p->end = (struct binding){0, 0};
	list_init(&p->areas);
	hal_publish(&p->space, offsetof(struct process, state));
	p->state = PROC_LIVE;
	c->procs_live++;
	*process = p;
	return 0;
}

static void
orphan_clear(struct cluster *c, struct process *p)
{
	if (!p->is_orphan)
		return;
	p->is_orphan = false;
	c->orphans--;
	c->chores--;
}

/* While a handle names it, crash_info can be asked, and the entry is not used again. */
void
proc_forget(struct cluster *c, struct process *p)
{
	orphan_clear(c, p);
	p->state = PROC_FREE;
	c->procs_live--;
	if (p->object.refs == 0)
		list_push_back(&c->procs_free, &p->free);
}

void
proc_unreferenced(struct cluster *c, struct process *p)
{
	if (p->state == PROC_FREE) {
		list_push_back(&c->procs_free, &p->free);
	} else if (p->state == PROC_ZOMBIE) {
		proc_forget(c, p);
	} else if (p->state == PROC_LIVE && p != c->init) {
		/* not at once: a process that ends closes its handles, and may be what named this one */
		p->is_orphan = true;
		c->orphans++;
		c->chores++;
	}
}

void
proc_end_orphan(struct cluster *c)
{
	struct process *p = c->proc;

	while (!p->is_orphan)
		p++;
	orphan_clear(c, p);
	proc_end(p, 0, CRASH_KILLED);
}

int
proc_named(struct thread *caller, int handle, unsigned rights, struct process **process)
{
	struct object *o;

	if (handle == SELF) {
		*process = caller->proc;
		return 0;
	}
	o = handle_get(&caller->proc->handles, handle, OBJECT_PROCESS, rights);
	if (o == NULL)
		return (int)handle_error(&caller->proc->handles, handle, OBJECT_PROCESS);
	*process = list_entry(o, struct process, object);
	return 0;
}

int
proc_find(struct thread *caller, int handle, unsigned rights, struct process **process)
{
	int e = proc_named(caller, handle, rights, process);

	if (e == 0 && (*process)->state != PROC_LIVE)
		return -E_SRCH;
	return e;
}

int
authority_check(struct thread *caller, int handle, unsigned rights)
{
	if (handle_get(&caller->proc->handles, handle, OBJECT_AUTHORITY, rights) != NULL)
		return 0;
	return (int)handle_error(&caller->proc->handles, handle, OBJECT_AUTHORITY);
}

/* --- the reaper --- */

/*
 * Calls that were under way when the process was killed: nobody goes on with them. The thread table is gone through, from p->looked on.
 * True: that was all.
 */
static bool
drop_work(struct cluster *c, struct process *p)
{
	for (unsigned n = 0; n < THREADS_LOOKED && p->looked < c->threads_used; n++) {
		struct thread *t = &c->thread[p->looked];

		if (t->state != THREAD_FREE && t->proc == p) {
			if (!mem_work_drop(t))
				return false;
			if (t->transfer != NULL)
				portal_abandon(t, 0);
		}
		p->looked++;
	}
	return p->looked >= c->threads_used;
}

/* No core has a thread of it any more. */
static bool
release_threads(struct process *p)
{
	for (unsigned n = 0; n < THREADS_RELEASED && !list_is_empty(&p->threads); n++) {
		struct thread *t = list_entry(p->threads.next, struct thread, siblings);

		if (t->state != THREAD_ZOMBIE)
			thread_unplace(t);
		thread_wait_end(t);
		thread_release(t);
	}
	return list_is_empty(&p->threads);
}

/* It has nothing any more. */
static void
proc_finish(struct cluster *c, struct process *p)
{
	struct thread *waiter = thread_first(&p->waiters);

	quota_put(&c->slab, p->quota);
	if (p->events != NULL)
		frame_put(&c->frames, p->events_frame, sweeps_epoch(c));
	p->events = NULL;
	p->state = PROC_ZOMBIE;
	binding_signal(c, &p->end);
	if (p == c->init)
		init_ended(c, p);
	if (waiter != NULL) {
		__builtin_memcpy(waiter->wake_data, &p->status, sizeof(p->status));
		thread_ready(waiter, 0);
	}
	if (waiter != NULL || p->object.refs == 0)
		proc_forget(c, p);
}

/* One step of a stage. True: it is over. */
static bool
reap_step(struct cluster *c, struct process *p)
{
	switch ((enum reap_stage)p->stage) {
	case REAP_WORK:
		return drop_work(c, p);
	case REAP_THREADS:
		return release_threads(p);
	case REAP_HANDLES:
		return handles_close_some(&p->handles, HANDLES_PER_STEP);
	default:
		return mem_release(p);
	}
}

static void
reap_begin(struct cluster *c, struct process *p, enum reap_stage stage)
{
	p->stage = stage;
	p->looked = 0;
	list_push_back(&c->reaping, &p->free);
	c->chores++;
}

/* The process waits, or it is gone. */
static void
reap_end(struct cluster *c, struct process *p)
{
	list_remove(&p->free);
	c->chores--;
}

bool
proc_reap(struct cluster *c)
{
	struct process *p;

	if (list_is_empty(&c->reaping))
		return false;
	p = list_entry(c->reaping.next, struct process, free);
	if (!reap_step(c, p))
		return true;
	if (p->stage == REAP_WORK) {
		reap_end(c, p);
		p->swept = true;
		proc_sweep_ended(p);
	} else if (p->stage == REAP_MEMORY) {
		reap_end(c, p);
		proc_finish(c, p);
	} else {
		p->stage++;
	}
	return true;
}

void
proc_sweep_ended(struct process *p)
{
	if (p->state == PROC_DYING && p->swept && p->holds == 0)
		reap_begin(proc_cluster(p), p, REAP_HANDLES);
}

static void
evicted(struct cluster *c, struct sweep *s)
{
	reap_begin(c, s->proc, REAP_WORK);
}

/* No thread of it waits any more: nobody may wake it, and nothing of it may be found in a queue. */
static void
end_waits(struct process *p)
{
	struct list *node, *after;

	list_each(node, after, &p->threads)
		thread_wait_end(list_entry(node, struct thread, siblings));
}

void
proc_end(struct process *p, int status, uint32_t cause)
{
	struct cluster *c = proc_cluster(p);
	struct sweep *s = &p->kill;

	if (p->state != PROC_LIVE)
		return;
	p->state = PROC_DYING;
	p->status = (struct proc_status){.status = status, .cause = cause, .threads = p->live};
	end_waits(p);
	s->fn = core_evict;
	s->done = evicted;
	s->proc = p;
	s->caller = NULL;
	sweep_begin(c, s);
	if (sweep_send(c, s, -1))
		evicted(c, s);
}
