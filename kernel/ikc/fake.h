/* SPDX-License-Identifier: MIT
 *
 * For the unit tests of kernel/ikc: several clusters played by one thread. The NoC is hal/noc/shm
 * over plain memory; of the kernel there is what ikc uses: threads that park and become ready. A
 * thread that becomes ready waits until pump() runs the second half of its call. Include once per
 * test program.
 */
#ifndef KERNEL_IKC_FAKE_H
#define KERNEL_IKC_FAKE_H

#include <stdlib.h>
#include <base/test.h>
#include <hal/timer.h>
#include <kernel/ikc/channel.h>
#include <kernel/ikc/state.h>
#include <kernel/mem/calls.h>
#include <kernel/mem/demand.h>
#include <kernel/mem/mapping.h>

#define FAKE_CLUSTERS 4
#define FAKE_PORTS 8
#define FAKE_UNIT 256
#define FAKE_CHANNELS 4			/* pages of each window */
/* per cluster: the first half belongs to process 0, the rest to process 1 */
#define FAKE_THREADS 8
#define FAKE_WINDOW 131072
#define FAKE_PAGES 64			/* of a cluster's memory for handles and endpoints */

struct fake_cluster {
	struct cluster c;
	struct core core;
	struct process proc[2];
	struct thread thread[FAKE_THREADS];
	struct event_page events[2];		/* of its processes */
	int processes;			/* so far */
	void *memory;
	struct frame frame[FAKE_PAGES];
	struct frame_domain domain;	/* behind them */
	struct boot_policy policy;
	bool up;
};

struct fake_thread {
	bool parked;			/* its call has not returned */
	bool ready;			/* thread_ready was called */
	long result;			/* of its last call */
	int wakeups;			/* events that were told to it */
};

static struct boot_record fake_record;
static struct fake_cluster *fake[FAKE_CLUSTERS];
static struct fake_thread fake_thread[FAKE_CLUSTERS][FAKE_THREADS];
static void *fake_pages[FAKE_CLUSTERS];	/* each life finds there what the last one left */
static _Alignas(4096) char fake_window[FAKE_CLUSTERS][FAKE_WINDOW];
static _Alignas(64) char fake_private[FAKE_CLUSTERS][HAL_NOC_PRIVATE_BYTES];
static unsigned here;			/* the cluster that is played now */
static uint64_t fake_now;
static unsigned fake_connectors;		/* of mailboxes; 0: as many as ports */
static unsigned fake_portal_connectors;		/* the same of portals */
static int fake_messages;		/* of the kernel, since fake_machine */

/*
 * HAL operations that the code under test may still do before it counts as endless; tests that care
 * set it.
 */
static unsigned long fake_steps_left = -1ul;

static inline void
fake_step_taken(const char *file, int line)
{
	if (fake_steps_left-- > 0)
		return;
	printf("FAIL endless work at %s:%d\n", file, line);
	exit(1);
}

/* --- HAL and console --- */

void *hal_noc_window(unsigned cluster) { return fake_window[cluster]; }
void *hal_noc_private(void) { return fake_private[here]; }
unsigned hal_cluster_id(void) { return here; }
unsigned hal_core_id(void) { return 0; }
void *hal_core_local(void) { return &fake[here]->core; }
uint64_t hal_clock_ns(void) { return fake_now; }
void console_message(struct cluster *c, const char *f, ...) { (void)c; (void)f; fake_messages++; }
uint32_t coro_load32(const volatile uint32_t *p, const char *f, int l) { fake_step_taken(f, l);
	return *p; }
void coro_store32(volatile uint32_t *p, uint32_t v, const char *f, int l) { fake_step_taken(f, l);
	*p = v; }
uint32_t coro_add32(volatile uint32_t *p, uint32_t n, const char *f, int l) { fake_step_taken(f, l);
	*p += n; return *p - n; }
bool coro_cas32(volatile uint32_t *p, uint32_t o, uint32_t v, const char *f, int l)
	{ fake_step_taken(f, l); return *p == o && (*p = v, true); }
uint64_t hal_paddr(const void *kernel) { return (uint64_t)(uintptr_t)kernel; }
void hal_zero_pages(void *kernel, size_t bytes) { memset(kernel, 0, bytes); }
void hal_shared_region(void *base, size_t len) { (void)base, (void)len; }
void hal_shared_region_end(void *base, size_t len) { (void)base, (void)len; }
void coro_fence(const char *f, int l) { fake_step_taken(f, l); }
void coro_publish(const volatile void *p, size_t n, const char *f, int l) { (void)p; (void)n;
	fake_step_taken(f, l); }
void coro_acquire(const volatile void *p, size_t n, const char *f, int l) { (void)p; (void)n;
	fake_step_taken(f, l); }
void coro_notify(unsigned c, unsigned o, const char *f, int l) { (void)c; (void)o;
	fake_step_taken(f, l); }
void coro_interrupt_home(unsigned c, const char *f, int l) { (void)c; fake_step_taken(f, l); }

/* Restarts: the machine stops a cluster at once, or when it is asked again; pump() starts it. */
static bool fake_starts[FAKE_CLUSTERS], fake_is_slow;

int
hal_cluster_stop(unsigned cluster)
{
	bool was = !fake[cluster]->up && !fake_starts[cluster];

	fake[cluster]->up = fake_starts[cluster] = false;
	return was || !fake_is_slow ? 0 : -E_AGAIN;
}

int
hal_cluster_start(unsigned cluster)
{
	fake_starts[cluster] = true;
	return 0;
}

int authority_check(struct thread *t, int authority, unsigned rights)
	{ (void)t; (void)authority; (void)rights; return 0; }

_Noreturn void
hal_panic(const char *file, int line, const char *what)
{
	printf("FAIL panic %s:%d: %s\n", file, line, what);
	exit(1);
}

_Noreturn void
check_failed(const char *file, int line)
{
	hal_panic(file, line, "a check has failed");
}

/* User memory is ordinary memory; the first page is not mapped. */
int
hal_copy_in(void *to, uintptr_t from, size_t len)
{
	if (from < 4096)
		return -E_FAULT;
	memcpy(to, (const void *)from, len);
	return 0;
}

int
hal_copy_out(uintptr_t to, const void *from, size_t len)
{
	if (to < 4096)
		return -E_FAULT;
	memcpy((void *)to, from, len);
	return 0;
}

/* Nobody here handles faults. */
int
hal_user_probe(uintptr_t to, size_t len)
{
	(void)to;
	(void)len;
	return -E_FAULT;
}

int
hal_user_load32(uintptr_t from, uint32_t *value)
{
	(void)from;
	(void)value;
	return -E_FAULT;
}

bool
demand_reach(struct core *core)
{
	(void)core;
	return false;
}

/* Where a test wants no more than the message. */
static inline void *
fake_sender(void)
{
	static struct mail_sender sender;

	return &sender;
}

/* --- kernel --- */

void frame_freed(int32_t owner) { (void)owner; }

/* Memory is channels, of which nothing is ever mapped. */
long
placed_new(struct process *p, size_t bytes, struct placed place, struct placed **made)
{
	struct slab *slab = &fake[here]->c.slab;
	struct placed *at = quota_alloc(p->quota, slab, bytes);
	long handle;

	if (at == NULL)
		return -E_NOMEM;
	*at = place;
	object_init(&at->memory.object, OBJECT_MEMORY);
	list_init(&at->memory.mappings);
	handle = handle_new(&p->handles, &at->memory.object, RIGHTS_ALL);
	if (handle < 0) {
		quota_free(p->quota, slab, at, bytes);
		return handle;
	}
	at->memory.quota = p->quota;
	quota_get(p->quota);
	*made = at;
	return handle;
}

void
memory_gone(struct cluster *c, struct memory *m)
{
	struct quota *q = m->quota;

	quota_free(q, &c->slab, m, sizeof(struct channel));
	quota_put(&c->slab, q);
}

bool mappings_take_away(struct cluster *c, struct memory *m, struct sweep *s) { (void)c; (void)m;
	(void)s; return false; }
void proc_sweep_ended(struct process *p) { (void)p; }
void shoot_down(struct core *core, const void *data) { (void)core; (void)data; }
void sweep_begin(struct cluster *c, struct sweep *s) { (void)c; (void)s; }
bool sweep_send(struct cluster *c, struct sweep *s) { (void)c; (void)s; return true; }

void
object_handle_gone(struct object *o)
{
	if (o->type == OBJECT_MEMORY)
		channel_handle_gone(&fake[here]->c, list_entry(o, struct memory, object));
	else
		ikc_handle_gone(&fake[here]->c, o);
}

void
object_unreferenced(struct object *o)
{
	if (o->type == OBJECT_PORT)
		ikc_unreferenced(&fake[here]->c, o);
	else if (o->type == OBJECT_MEMORY)
		channel_unreferenced(&fake[here]->c, list_entry(o, struct memory, object));
}

static inline struct fake_thread *
fake_of(const struct thread *t)
{
	return &fake_thread[t->cluster->id][t - fake[t->cluster->id]->thread];
}

struct thread *
thread_find(struct cluster *c, int tid)
{
	struct thread *t = &fake[c->id]->thread[ID_INDEX(tid)];

	return tid > 0 && ID_INDEX(tid) < FAKE_THREADS && t->tid == tid &&
		t->state != THREAD_FREE ? t : NULL;
}

long
thread_park(struct thread *t, struct list *queue)
{
	t->state = THREAD_WAITING;
	if (queue != NULL)
		list_push_back(queue, &t->wait.link);
	return -E_PARK;
}

void
thread_ready(struct thread *t, long result)
{
	check(t->state == THREAD_WAITING);
	list_remove(&t->wait.link);
	t->wait.undo = NULL;
	t->wait.kind = WAIT_OTHER;
	t->state = THREAD_READY;
	t->wake_result = result;
	fake_of(t)->ready = t->proc->state == PROC_LIVE;
}

struct thread *
thread_first(const struct list *queue)
{
	return list_is_empty(queue) ? NULL : list_entry(queue->next, struct thread, wait.link);
}

struct thread *
thread_waiter(struct list *queue)
{
	struct thread *t = thread_first(queue);

	if (t == NULL || t->proc->state == PROC_LIVE)
		return t;
	list_remove(&t->wait.link);
	return NULL;
}

void
binding_signal(struct cluster *c, const struct binding *b)
{
	struct thread *t = thread_find(c, b->tid);

	if (t == NULL)
		return;
	t->bits |= BINDING_BIT(b);
	fake_of(t)->wakeups++;
}

void
binding_handle_gone(struct cluster *c, struct binding *b, const struct object *o)
{
	struct thread *t = thread_find(c, b->tid);

	if (t == NULL || handle_get_far(&t->proc->handles, BINDING_HANDLE(b), o->type) == o)
		return;
	binding_signal(c, b);
	b->tid = 0;
}

/* event_bind */
static inline long
fake_bind(struct thread *t, int event, int object, int bit)
{
	struct event e;
	long wrong;

	here = t->cluster->id;
	wrong = ikc_event(t, event, object, &e);
	if (wrong != 0)
		return wrong;
	*e.binding = (struct binding){t->tid, BINDING(object, bit)};
	if (e.is_there)
		binding_signal(t->cluster, e.binding);
	return 0;
}

long
am_call_kernel(struct core *core, kcall_serve_fn *fn, struct kcall_args *args, uint32_t bytes)
{
	check(args == &core->call.args && bytes <= sizeof(*args));
	return fn(args);
}

/* --- machine --- */

static inline void
fake_thread_init(struct thread *t, struct fake_cluster *f, int index)
{
	memset(t, 0, sizeof(*t));
	t->cluster = &f->c;
	t->core = &f->core;
	t->proc = &f->proc[index >= FAKE_THREADS / 2];
	t->tid = (1 << ID_INDEX_BITS) + index;
	t->state = THREAD_READY;
	list_init(&t->wait.link);
}

/* handle_close */
static inline long
fake_close(struct thread *t, int handle)
{
	return handle_close(&t->proc->handles, handle);
}

/* A copy of a handle for the process of another thread of the same cluster. */
static inline int
fake_give(struct thread *from, int handle, struct thread *to, unsigned rights)
{
	here = from->cluster->id;
	return (int)handle_duplicate(&from->proc->handles, handle, &to->proc->handles, rights);
}

static inline long
fake_revoke(struct thread *t, int handle)
{
	here = t->cluster->id;
	return handle_revoke(&t->proc->handles, handle);
}

/* An empty process with an account of its own. */
static inline void
fake_process_init(struct fake_cluster *f, int proc)
{
	struct process *p = &f->proc[proc];

	p->state = PROC_LIVE;
	p->id = ++f->processes << ID_INDEX_BITS | proc;
	p->badge = (uint32_t)p->id;
	p->events = &f->events[proc];
	p->quota = quota_new(&f->c.slab, &f->c.all);
	handles_init(&p->handles, &f->c.slab, p->quota);
}

static inline void
fake_memory_init(struct fake_cluster *f)
{
	void **pages = &fake_pages[f->c.id];

	if (*pages == NULL)
		*pages = aligned_alloc(HAL_LARGE_BYTES, HAL_LARGE_BYTES);
	frames_init(&f->c.frames, f->frame, *pages, *pages,
		(char *)*pages + FAKE_PAGES * HAL_PAGE_BYTES, &f->policy);
	slab_init(&f->c.slab, &f->c.frames, sizeof(struct thread));
	quota_init(&f->c.all, &f->c.frames);
}

/* What the process has not given back. */
static inline size_t
fake_charged(unsigned cluster, int proc)
{
	return fake[cluster]->proc[proc].quota->used[QUOTA_BYTES];
}

/* Bring a cluster up, in its first or next life. */
static inline void
fake_boot(unsigned cluster)
{
	struct fake_cluster *f = fake[cluster];

	here = cluster;
	free(f->memory);
	memset(f, 0, sizeof(*f));
	memset(fake_thread[cluster], 0, sizeof(fake_thread[cluster]));
	fake_record.cluster[cluster].incarnation++;
	f->c.record = &fake_record;
	f->c.id = cluster;
	f->c.cores = 1;
	f->c.proc = f->proc;
	f->c.procs_max = 2;
	list_init(&f->c.sweeps.running);
	f->core.cluster = &f->c;
	for (int i = 0; i < FAKE_THREADS; i++)
		fake_thread_init(&f->thread[i], f, i);
	fake_memory_init(f);
	fake_process_init(f, 0);
	fake_process_init(f, 1);
	hal_noc_init(&fake_record);
	f->memory = aligned_alloc(64, ikc_bytes(&fake_record));
	memset(f->memory, 0xa5, ikc_bytes(&fake_record));
	ikc_init(&f->c, f->memory);
	f->up = true;
}

/* A machine that is off. */
static inline void
fake_machine(void)
{
	memset(fake_window, 0, sizeof(fake_window));
	memset(fake_private, 0, sizeof(fake_private));
	memset(&fake_record, 0, sizeof(fake_record));
	fake_record.clusters = FAKE_CLUSTERS;
	fake_record.mailbox_ports = fake_record.portal_ports = FAKE_PORTS;
	fake_record.portal_unit_bytes = FAKE_UNIT;
	fake_record.channel_bytes = FAKE_CHANNELS * HAL_PAGE_BYTES;
	fake_record.mailbox_connectors = fake_connectors;
	fake_record.portal_connectors = fake_portal_connectors;
	fake_record.noc_window_bytes = FAKE_WINDOW;
	fake_now = 0;
	fake_messages = 0;
	for (unsigned i = 0; i < FAKE_CLUSTERS; i++) {
		fake_record.cluster[i].cores = 1;
		if (fake[i] == NULL)
			fake[i] = aligned_alloc(64, (sizeof(*fake[i]) + 63) / 64 * 64);
		else
			free(fake[i]->memory);
		memset(fake[i], 0, sizeof(*fake[i]));
	}
}

static inline void
fake_end(void)
{
	for (unsigned i = 0; i < FAKE_CLUSTERS; i++) {
		free(fake[i]->memory);
		free(fake[i]);
		free(fake_pages[i]);
	}
}

/* The cluster stops without a word; `noticed`: somebody marks it dead. */
static inline void
fake_kill(unsigned cluster, bool noticed)
{
	fake[cluster]->up = false;
	if (noticed)
		hal_noc_mark_dead(cluster);
}

/* Thread `index` of a cluster. */
static inline struct thread *
thr(unsigned cluster, int index)
{
	return &fake[cluster]->thread[index];
}

/* The thread calls; usage: call(t, kc_mailbox_open(t, 1, 2)). */
#define call(t, expression) (fake_enter(t), fake_leave((t), (expression)))

static inline void
fake_enter(struct thread *t)
{
	check(!fake_of(t)->parked);
	here = t->cluster->id;
	fake[here]->core.current = t;
	t->resume = RESUME_RESULT;
}

static inline long
fake_leave(struct thread *t, long result)
{
	fake_of(t)->parked = result == -E_PARK;
	fake_of(t)->result = result;
	return result;
}

static inline bool
fake_is_parked(const struct thread *t)
{
	return fake_of(t)->parked;
}

static inline long
fake_result(const struct thread *t)
{
	return fake_is_parked(t) ? -E_PARK : fake_of(t)->result;
}

/* Run the second half of a call whose thread was made ready. */
static inline bool
fake_finish(struct thread *t)
{
	enum resume how = t->resume;
	uint64_t data[KCALL_WAKE_BYTES / 8];

	if (!fake_of(t)->ready)
		return false;
	fake_of(t)->ready = false;
	here = t->cluster->id;
	fake[here]->core.current = t;
	t->resume = RESUME_RESULT;
	memcpy(data, t->wake_data, sizeof(data));
	fake_leave(t, how == RESUME_FINISH ? t->finish(&t->frame, t->wake_result, data) :
		t->wake_result);
	return true;
}

/* The deadline of a thread that waits passes. */
static inline void
fake_late(struct thread *t)
{
	here = t->cluster->id;
	if (t->wait.undo != NULL)
		t->wait.undo(t);
	thread_ready(t, -E_TIMEDOUT);
}

/* One step of one cluster: its home core's or its threads'. */
static inline bool
fake_step(unsigned cluster, bool home)
{
	bool any = false;

	if (fake_starts[cluster]) {
		fake_starts[cluster] = false;
		fake_boot(cluster);
		return true;
	}
	if (!fake[cluster]->up)
		return false;
	here = cluster;
	if (home)
		return ikc_poll(&fake[cluster]->c) | ikc_look(&fake[cluster]->c) |
			peers_poll(&fake[cluster]->c) | channels_poll(&fake[cluster]->c);
	for (int i = 0; i < FAKE_THREADS; i++)
		any |= fake_finish(thr(cluster, i));
	return any;
}

/* Let everything happen that can. */
static inline void
pump(void)
{
	bool any;

	do {
		any = false;
		for (unsigned i = 0; i < FAKE_CLUSTERS; i++)
			any |= fake_step(i, true) | fake_step(i, false);
	} while (any);
}

static inline void
fake_all_up(void)
{
	fake_machine();
	for (unsigned i = 0; i < FAKE_CLUSTERS; i++)
		fake_boot(i);
	pump();
}

/* The end of a process: as kernel/proc does it. */
static inline void
fake_process_ends(unsigned cluster, int proc)
{
	struct process *p = &fake[cluster]->proc[proc];

	here = cluster;
	p->state = PROC_DYING;
	for (int i = 0; i < FAKE_THREADS; i++) {
		struct thread *t = thr(cluster, i);

		if (t->proc != p)
			continue;
		list_remove(&t->wait.link);
		t->wait.undo = NULL;
		fake_of(t)->ready = false;
	}
	for (int i = 0; i < FAKE_THREADS; i++)
		if (thr(cluster, i)->proc == p && thr(cluster, i)->transfer != NULL)
			portal_abandon(thr(cluster, i), 0);
	while (!handles_close_some(&p->handles, 3))
		continue;
	quota_put(&fake[cluster]->c.slab, p->quota);
	for (int i = 0; i < FAKE_THREADS; i++) {
		struct thread *t = thr(cluster, i);

		if (t->proc != p)
			continue;
		if (t->missed_slot != NULL)
			list_remove(&t->missed);
		t->state = THREAD_FREE;
	}
}

/* A new process takes its place. */
static inline void
fake_process_starts(unsigned cluster, int proc)
{
	struct fake_cluster *f = fake[cluster];

	fake_process_init(f, proc);
	for (int i = 0; i < FAKE_THREADS; i++) {
		struct thread *t = &f->thread[i];
		int tid = t->tid;

		if (t->proc != &f->proc[proc])
			continue;
		fake_thread_init(t, f, i);
		t->tid = tid + (1 << ID_INDEX_BITS);
		memset(fake_of(t), 0, sizeof(struct fake_thread));
	}
}

/* Message number n, as text. */
static inline const void *
text(int n)
{
	static char buffer[MAILBOX_MSG_SIZE];

	memset(buffer, 0, sizeof(buffer));
	snprintf(buffer, sizeof(buffer), "message %d", n);
	return buffer;
}

#endif
