/* SPDX-License-Identifier: MIT
 *
 * Life and end of processes: see proc.h.
 */
#include <base/str.h>
#include <kernel/mem/mapping.h>
#include <kernel/mem/mem.h>
#include <kernel/proc/init.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/counts.h>
#include <kernel/thread/run.h>
#include <kernel/thread/thread.h>

/* What one step of the reaper does. */
#define HANDLES_PER_STEP 2
#define REAP_IN_A_ROW 8
/* for what is under way: 1 for an entry of the table, and more for one of the process */
#define THREADS_LOOKED 96
#define THREADS_OWN 7
#define THREADS_RELEASED 5

enum reap_stage { REAP_WORK, REAP_HANDLES, REAP_THREADS, REAP_MEMORY };

/* An entry of the table, charged to an account. 0 or -E_NOSPC. */
static int
entry_take(struct cluster *c, struct quota *q, struct process **process)
{
	struct process *p;

	if (list_is_empty(&c->procs_free) || !quota_charge(q, QUOTA_PROCS, 1))
		return -E_NOSPC;
	p = list_entry(list_pop_front(&c->procs_free), struct process, free);
	quota_get(q);
	p->quota = q;
	p->frames = 0;
	p->state = PROC_LIVE;
	object_init(&p->object, OBJECT_PROCESS);
	p->generation = p->generation % ID_GENERATION_MAX + 1;
	p->id = (int)(p->generation << ID_INDEX_BITS | (uint32_t)(p - c->proc));
	*process = p;
	return 0;
}

int
proc_own_account(struct cluster *c, struct process *p)
{
	struct quota *old = p->quota, *q = quota_new(&c->slab, old);

	if (q == NULL)
		return -E_NOMEM;
	q->used[QUOTA_PROCS] = 1;
	q->used[QUOTA_BYTES] = (size_t)p->frames * HAL_PAGE_BYTES;
	p->quota = p->handles.quota = p->areas.quota = q;
	quota_put(&c->slab, old);
	return 0;
}

/* What of a new process can fail. 0 or -E_NOMEM. */
static int
make_space_and_account(struct cluster *c, const struct process *parent, struct process *p)
{
	memset(&p->space, 0, sizeof(p->space));
	handles_init(&p->handles, &c->slab, p->quota);
	areas_init(&p->areas, &c->slab, p->quota);
	if (mem_space_init(p) != 0)
		return -E_NOMEM;
	if (parent == NULL || parent != c->init || proc_own_account(c, p) == 0)
		return 0;
	while (!hal_space_destroy(&p->space))
		continue;
	return -E_NOMEM;
}

void
proc_entry_free(struct cluster *c, struct process *p)
{
	if (p->state != PROC_FREE || p->object.refs > 0 || p->frames > 0)
		return;
	quota_refund(p->quota, QUOTA_PROCS, 1);
	quota_put(&c->slab, p->quota);
	list_push_back(&c->procs_free, &p->free);
}

/* Its threads may be placed where its parent's are, near the emptiest of these cores. */
static void
cores_inherit(struct cluster *c, const struct process *parent, struct process *p)
{
	p->core_first = parent != NULL ? parent->core_first : 0;
	p->core_count = parent != NULL ? parent->core_count : c->cores;
	p->domain = parent != NULL ? parent->domain : 0;
	p->domain = domain_near(c, p);
}

int
proc_new(struct cluster *c, const struct process *parent, struct process **process)
{
	struct process *p;
	int e = entry_take(c, parent != NULL ? parent->quota : &c->all, &p);

	if (e != 0)
		return e;
	cores_inherit(c, parent, p);
	if (make_space_and_account(c, parent, p) != 0) {
		p->state = PROC_FREE;
		proc_entry_free(c, p);
		return -E_NOMEM;
	}
	p->badge = parent == NULL || parent == c->init ? (uint32_t)p->id : parent->badge;
	p->priority = parent != NULL && parent->priority < PRIORITY_PROGRAM ? parent->priority :
		PRIORITY_PROGRAM;
	hal_store32(&p->demand, 0);
	memset(&p->live, 0, offsetof(struct process, object) - offsetof(struct process, live));
	p->counts.begun_ns = parent != NULL ? parent->counts.begun_ns : 0;
	list_init(&p->threads);
	list_init(&p->waiters);
	list_init(&p->handlers);
	list_init(&p->faulted);
	list_init(&p->taken);
	mappings_init(p);
	hal_publish(&p->space, offsetof(struct process, state));
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

/* While a handle names it, crash_info can be asked. */
void
proc_forget(struct cluster *c, struct process *p)
{
	orphan_clear(c, p);
	p->state = PROC_FREE;
	c->procs_live--;
	proc_entry_free(c, p);
}

void
proc_unreferenced(struct cluster *c, struct process *p)
{
	if (p->state == PROC_FREE) {
		proc_entry_free(c, p);
	} else if (p->state == PROC_ZOMBIE) {
		proc_forget(c, p);
	} else if (p->state == PROC_LIVE && p != c->init) {
		/*
		 * not at once: a process that ends closes its handles, and may be what named this
		 * one
		 */
		p->is_orphan = true;
		c->orphans++;
		c->chores++;
	}
}

bool
proc_end_orphan(struct cluster *c)
{
	struct process *p = c->proc;

	while (!p->is_orphan)
		p++;
	orphan_clear(c, p);
	proc_end(p, 0, CRASH_KILLED);
	return true;
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
 * Calls that waited or were under way when the process was killed: nobody goes on with them. From
 * here on nothing of its threads is found in a queue. The thread table is gone through, from
 * p->looked on. True: that was all.
 */
static bool
drop_work(struct cluster *c, struct process *p)
{
	for (unsigned n = 0; n < THREADS_LOOKED && p->looked < c->threads_used; n++) {
		struct thread *t = thread_at(c, p->looked);

		p->looked++;
		if (t == NULL || t->state == THREAD_FREE || t->proc != p)
			continue;
		thread_wait_end(t);
		if (t->transfer != NULL)
			portal_abandon(t, 0);
		n += THREADS_OWN;
		if (mem_work_is_held(t)) {
			p->looked -= !mem_work_drop(t);
			return false;
		}
	}
	return p->looked >= c->threads_used;
}

/* No core has a thread of it any more. */
static bool
release_threads(struct process *p)
{
	for (unsigned n = 0; n < THREADS_RELEASED && !list_is_empty(&p->threads); n++) {
		struct thread *t = list_entry(p->threads.next, struct thread, siblings);

		if (t->state != THREAD_ZOMBIE) {
			if (t->counts != NULL)
				counts_keep(t);
			thread_unplace(t);
		}
		thread_wait_end(t);
		thread_release(t);
	}
	return list_is_empty(&p->threads);
}

/* How long it ran, as struct proc_status has it. */
static uint32_t
used_by(const struct process *p)
{
	uint64_t ns = p->counts.run_ns;
	uint32_t shift = 0;

	for (; ns >> PROC_USED_BITS != 0; ns >>= 1)
		shift++;
	return shift << PROC_USED_BITS | (uint32_t)ns;
}

/* It has nothing any more. */
static void
proc_finish(struct cluster *c, struct process *p)
{
	struct thread *waiter = thread_waiter(&p->waiters), *handler = thread_waiter(&p->handlers);

	if (p->events != NULL)
		frame_put(&c->frames, p->events_frame, &c->sweeps, NULL);
	p->events = NULL;
	p->status.used = used_by(p);
	p->state = PROC_ZOMBIE;
	binding_signal(c, &p->end);
	p->end.tid = 0;
	if (p == c->init)
		init_ended(c, p);
	if (waiter != NULL) {
		__builtin_memcpy(waiter->wake_data, &p->status, sizeof(p->status));
		thread_ready(waiter, 0);
	}
	if (handler != NULL)
		thread_ready(handler, -E_SRCH);
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
		return !memory_drop_some(c) && mem_release(p);
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

/*
 * The next chore is this one again, without a look at all others, but for each eighth step, and
 * when something has come from outside.
 */
static void
reap_goes_on(struct cluster *c)
{
	if (ikc_is_quiet(&c->ikc) && ++c->reaped % REAP_IN_A_ROW != 0)
		c->chore--;
}

bool
proc_reap(struct cluster *c)
{
	struct process *p;

	if (list_is_empty(&c->reaping))
		return false;
	p = list_entry(c->reaping.next, struct process, free);
	reap_goes_on(c);
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

void
proc_end(struct process *p, int status, uint32_t cause)
{
	struct cluster *c = proc_cluster(p);
	struct sweep *s = &p->kill;

	if (p->state != PROC_LIVE)
		return;
	p->state = PROC_DYING;
	p->status = (struct proc_status){.status = status, .cause = cause, .threads = p->live};
	s->fn = core_evict;
	s->done = evicted;
	s->proc = p;
	s->caller = NULL;
	sweep_begin(c, s);
	sweep_cover(c, s, p, -1);
	if (sweep_send(c, s))
		evicted(c, s);
}
