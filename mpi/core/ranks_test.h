/* SPDX-License-Identifier: MIT
 *
 * For tests: ranks as threads of one ordinary process, with the few kernel calls that the library
 * makes. Clusters exist by the placement table only; their memory is not kept apart, so that thread
 * sanitizers see everything. Include in the one file of a test.
 */
#ifndef MPI_CORE_RANKS_TEST_H
#define MPI_CORE_RANKS_TEST_H

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <abi/errors.h>
#include <abi/layout.h>
#include <atoll/guest.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <atoll/yield.h>
#include <mpi/core/rank.h>
#include <servers/name/client.h>

#define TEST_THREADS_MAX 4096
#define TEST_PORTS 64
#define TEST_CLUSTERS 8
#define TEST_BASE_PORT 8
#define TEST_BADGE 16
#define TEST_AREA_BYTES (64u << 20)
#define TEST_CHANNELS 64
#define TEST_PAGE 4096

struct test_thread {
	pthread_t thread;
	pthread_cond_t cond;
	bool woken;
	bool sleeps;			/* and nobody has woken it */
	void (*fn)(void *arg);
	void *arg;
	struct startup startup;		/* of the rank that has started it */
};

struct test_slot {
	bool full;
	bool missed;			/* somebody found it full */
	unsigned char message[MAILBOX_MSG_SIZE];
};

/* Of output mailboxes in a cluster. */
struct test_handles {
	int open;
	int most;			/* at a time */
};

struct test_port {
	int owner;			/* thread + 1 that created the mailbox */
	struct test_slot slot[TEST_CLUSTERS];
	int allowed;			/* (cluster << 8 | port) + 1 of the sender that may write */
	const void *data;		/* what it writes, until it is read */
	size_t len;
};

/* A channel of two clusters: both sides see the same memory, at the same addresses. */
struct test_channel {
	unsigned cluster[2];		/* of who made it, and of who opens it */
	int owner[2];			/* thread + 1 that is told, on each side */
	bool ended[2];
	char *memory;
	size_t bytes;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;		/* portals, and who sleeps */
	struct test_thread thread[TEST_THREADS_MAX];
	int threads;
	struct test_port port[TEST_CLUSTERS][TEST_PORTS];
	struct event_page events[TEST_CLUSTERS];
	struct placement placement[TEST_THREADS_MAX];
	struct job_part parts[TEST_CLUSTERS];
	unsigned cores;			/* that each cluster claims to have */
	bool dead[TEST_CLUSTERS];
	struct test_handles mailboxes[TEST_CLUSTERS];
	struct test_channel channel[TEST_CHANNELS];
	int channels;
} test_os = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/*
 * What a rank expects and does not find. A test begins with 0 and looks at it when its job has
 * ended.
 */
static int job_errors __attribute__((unused));

#define MUST(condition) \
	do { \
		if (!(condition)) { \
			__atomic_add_fetch(&job_errors, 1, __ATOMIC_RELAXED); \
			fprintf(stderr, "rank %d: %s:%d: %s\n", mpi_self()->world_rank, \
				__FILE__, __LINE__, #condition); \
		} \
	} while (0)

static __thread struct mpi_rank test_rank;
static __thread struct mpi_rank *test_first;	/* of a further thread: the rank of the first one */
static __thread struct startup test_startup;
static __thread int test_tid;
static __thread char *test_mapped;	/* memory of the channel that is being mapped */

struct mpi_rank *
mpi_self(void)
{
	return test_first != NULL ? test_first : &test_rank;
}

const struct startup *
atoll_startup(void)
{
	return test_startup.version ? &test_startup : NULL;
}

void
rank_hold(bool held)
{
	(void)held;
}

void
job_abort(int status)
{
	fflush(NULL);
	_exit(status & 255 ? status & 255 : 1);
}

static long
test_wake_locked(int tid)
{
	test_os.thread[tid].woken = true;
	test_os.thread[tid].sleeps = false;
	pthread_cond_signal(&test_os.thread[tid].cond);
	return 0;
}

long
kthread_wakeup(int tid, uint32_t bits)
{
	(void)bits;
	pthread_mutex_lock(&test_os.lock);
	test_wake_locked(tid);
	pthread_mutex_unlock(&test_os.lock);
	return 0;
}

long
kthread_sleep(uint32_t mask, uint64_t deadline)
{
	struct test_thread *t = &test_os.thread[test_tid];

	(void)mask;
	(void)deadline;
	pthread_mutex_lock(&test_os.lock);
	t->sleeps = !t->woken;
	pthread_cond_broadcast(&test_os.changed);
	while (!t->woken)
		pthread_cond_wait(&t->cond, &test_os.lock);
	t->woken = false;
	pthread_mutex_unlock(&test_os.lock);
	return 0;
}

/* A rank's thread sleeps, and will until somebody else than those who sleep wakes it. */
static inline void
test_wait_for_sleep(int tid)
{
	pthread_mutex_lock(&test_os.lock);
	while (!test_os.thread[tid].sleeps)
		pthread_cond_wait(&test_os.changed, &test_os.lock);
	pthread_mutex_unlock(&test_os.lock);
}

long
kthread_self(void)
{
	return test_tid;
}

long
kthread_yield(void)
{
	return sched_yield();
}

/*
 * Of the kernel's gate the call that goes through it directly (atoll/yield.h): without arguments.
 */
static long
test_gate(unsigned long nr)
{
	return nr == KC_THREAD_YIELD ? kthread_yield() : -E_NOSYS;
}

kcall_gate *kcall_gate_address = (kcall_gate *)(uintptr_t)test_gate;

long
kfutex_wait(unsigned long addr, uint32_t value, uint64_t deadline)
{
	(void)deadline;
	return syscall(SYS_futex, addr, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

long
kfutex_wake(unsigned long addr, int count)
{
	return syscall(SYS_futex, addr, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

/* Handles of channels: the number, and the side. */
#define TEST_CHANNEL 0x4000

static struct test_channel *
test_channel_of(int handle)
{
	return &test_os.channel[(handle & ~TEST_CHANNEL) >> 1];
}

static void
test_channel_tell_locked(int handle)
{
	int owner = test_channel_of(handle)->owner[~handle & 1];

	if (owner != 0)
		test_wake_locked(owner - 1);
}

static long
test_channel_bind_locked(int handle)
{
	struct test_channel *c = test_channel_of(handle);
	int other = ~handle & 1;

	c->owner[handle & 1] = test_tid + 1;
	if (test_os.dead[c->cluster[other]])
		return -E_HOSTDOWN;
	return c->ended[other] ? -E_PIPE : 0;
}

/* Who is told of a mailbox, and of a channel; all are told of room. */
long
kevent_bind(int event, int object, int bit)
{
	long err = 0;

	(void)bit;
	pthread_mutex_lock(&test_os.lock);
	if (event == EVENT_CHANNEL)
		err = test_channel_bind_locked(object);
	else
		test_wake_locked(test_tid);
	if (event == EVENT_MAILBOX)
		test_os.port[test_startup.cluster][object].owner = test_tid + 1;
	pthread_mutex_unlock(&test_os.lock);
	return err;
}

bool
guests_admit(unsigned ranks)
{
	(void)ranks;
	return true;
}

long
kvoid_remote(void)
{
	return sched_yield();
}

long
kclock(void *ns)
{
	struct timespec ts;
	uint64_t value;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	value = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	memcpy(ns, &value, sizeof(value));
	return 0;
}

long
kcluster_info(void *info)
{
	struct cluster_info i = {.cluster = test_startup.cluster, .clusters = TEST_CLUSTERS,
		.cores = test_os.cores, .page_bytes = TEST_PAGE};

	memcpy(info, &i, sizeof(i));
	return 0;
}

const char *
error_text(long error)
{
	(void)error;
	return "an error of the kernel";
}

long
kstats(int what, void *value)
{
	(void)what;
	(void)value;
	return -E_INVAL;
}

static int
test_new_thread(void)
{
	int tid;

	pthread_mutex_lock(&test_os.lock);
	tid = test_os.threads++;
	if (tid >= TEST_THREADS_MAX)
		abort();
	pthread_cond_init(&test_os.thread[tid].cond, NULL);
	test_os.thread[tid].woken = test_os.thread[tid].sleeps = false;
	pthread_mutex_unlock(&test_os.lock);
	return tid;
}

/* A thread that the library has made by pthread_create is known from here on. */
int
guest_enter(void)
{
	if (test_startup.version == 0 && test_tid == 0)
		test_tid = test_new_thread();
	return 0;
}

static void *
test_helper_main(void *arg)
{
	test_tid = (int)(intptr_t)arg;
	test_startup = test_os.thread[test_tid].startup;
	test_os.thread[test_tid].fn(test_os.thread[test_tid].arg);
	return NULL;
}

/* What a further thread of a rank is given. */
struct test_further {
	struct mpi_rank *rank;
	struct startup startup;
	void *(*fn)(void *arg);
	void *arg;
};

static void *
test_further_main(void *arg)
{
	struct test_further f = *(struct test_further *)arg;

	free(arg);
	test_first = f.rank;
	test_startup = f.startup;
	test_tid = test_new_thread();
	return f.fn(f.arg);
}

/* pthread_create for the threads of a rank: they have its rank, as on the hosted port. */
static inline int
test_thread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *arg), void *arg)
{
	struct test_further *f = malloc(sizeof(*f));
	int error = ENOMEM;

	if (f != NULL) {
		*f = (struct test_further){mpi_self(), test_startup, fn, arg};
		error = pthread_create(thread, attr, test_further_main, f);
	}
	if (error != 0)
		free(f);
	return error;
}

int
thread_start(void (*fn)(void *arg), void *arg, int core, size_t stack_bytes)
{
	int tid = test_new_thread();

	(void)core;
	(void)stack_bytes;
	test_os.thread[tid].fn = fn;
	test_os.thread[tid].arg = arg;
	test_os.thread[tid].startup = test_startup;
	pthread_create(&test_os.thread[tid].thread, NULL, test_helper_main, (void *)(intptr_t)tid);
	return tid;
}

long
kthread_join(int tid, void *value, uint64_t deadline)
{
	(void)deadline;
	(void)value;
	return -pthread_join(test_os.thread[tid].thread, NULL);
}

/* These jobs have no name daemon: none is asked, for ATOLL_MPI_NAMES is not set. */
int
name_open(struct name_client *c, int bit)
{
	(void)c;
	(void)bit;
	return -E_NOENT;
}

int
name_link(struct name_client *c, const char *name, uint32_t port, uint32_t period)
{
	(void)c;
	(void)name;
	(void)port;
	(void)period;
	return -E_NOENT;
}

int
name_lookup(struct name_client *c, const char *name, uint32_t flags, struct name_place *place)
{
	(void)c;
	(void)name;
	(void)flags;
	(void)place;
	return -E_IO;
}

/* Handles: an input is its port, an output is (cluster, port) of the peer. */
#define TEST_OUT(cluster, port) (0x1000 | (cluster) << 8 | (port))
#define TEST_PORTAL 0x2000

long
kmailbox_create(int port)
{
	pthread_mutex_lock(&test_os.lock);
	test_os.port[test_startup.cluster][port].owner = test_tid + 1;
	pthread_mutex_unlock(&test_os.lock);
	return port;
}

long
kmailbox_open(int cluster, int port)
{
	struct test_handles *h = &test_os.mailboxes[test_startup.cluster];

	pthread_mutex_lock(&test_os.lock);
	if (++h->open > h->most)
		h->most = h->open;
	pthread_mutex_unlock(&test_os.lock);
	return TEST_OUT(cluster, port);
}

long
kmailbox_write(int id, const void *msg)
{
	unsigned to = id >> 8 & 15;
	struct test_port *p = &test_os.port[to][id & 255];
	struct test_slot *s = &p->slot[test_startup.cluster];
	long err = 0;

	pthread_mutex_lock(&test_os.lock);
	if (test_os.dead[to]) {
		err = -E_HOSTDOWN;
	} else if (s->full) {
		s->missed = true;
		err = -E_AGAIN;
	} else {
		s->full = true;
		memcpy(s->message, msg, MAILBOX_MSG_SIZE);
		__atomic_add_fetch(&test_os.events[to].mailbox_arrivals[id & 255], 1,
			__ATOMIC_SEQ_CST);
		if (p->owner)
			test_wake_locked(p->owner - 1);
	}
	pthread_mutex_unlock(&test_os.lock);
	return err;
}

/* A cluster dies: its ranks must not do anything any more. */
static inline void
test_kill_cluster(unsigned cluster)
{
	pthread_mutex_lock(&test_os.lock);
	test_os.dead[cluster] = true;
	for (int i = 0; i < TEST_CLUSTERS; i++)
		__atomic_add_fetch(&test_os.events[i].clusters_dead, 1, __ATOMIC_SEQ_CST);
	for (int tid = 0; tid < test_os.threads; tid++)
		test_wake_locked(tid);
	pthread_mutex_unlock(&test_os.lock);
}

long
kmailbox_read(int id, int source, void *msg, void *sender)
{
	struct test_port *p = &test_os.port[test_startup.cluster][id];
	long found = -E_AGAIN;

	(void)source;
	pthread_mutex_lock(&test_os.lock);
	for (int i = 0; i < TEST_CLUSTERS && found < 0; i++) {
		struct test_slot *s = &p->slot[i];

		if (!s->full)
			continue;
		memcpy(msg, s->message, MAILBOX_MSG_SIZE);
		s->full = false;
		for (int tid = 0; s->missed && tid < test_os.threads; tid++)
			test_wake_locked(tid);
		s->missed = false;
		*(struct mail_sender *)sender = (struct mail_sender){(uint32_t)i, TEST_BADGE};
		found = i;
	}
	pthread_mutex_unlock(&test_os.lock);
	return found;
}

long
kportal_create(int port)
{
	return port;
}

long
kportal_open(int cluster, int port, int local_port)
{
	return TEST_OUT(cluster, port) | TEST_PORTAL | local_port << 16 |
		(int)test_startup.cluster << 24;
}

/* For whoever reads where a mailbox leads. */
long
kchannel_create(int mailbox, int count, void *number)
{
	size_t bytes = (size_t)count * TEST_PAGE;
	struct test_channel *c;
	int n;

	pthread_mutex_lock(&test_os.lock);
	n = test_os.channels;
	if (n < TEST_CHANNELS) {
		c = &test_os.channel[test_os.channels++];
		*c = (struct test_channel){.cluster = {test_startup.cluster, mailbox >> 8 & 15},
			.bytes = bytes, .memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)};
		test_mapped = c->memory;
		memcpy(number, &n, sizeof(uint32_t));
	}
	pthread_mutex_unlock(&test_os.lock);
	return n < TEST_CHANNELS ? TEST_CHANNEL | n << 1 : -E_NOMEM;
}

long
kchannel_open(int mailbox, int cluster, uint32_t number)
{
	const struct test_channel *c = &test_os.channel[number];
	long handle = -E_NOENT;

	(void)mailbox;
	pthread_mutex_lock(&test_os.lock);
	if (number < (uint32_t)test_os.channels && c->cluster[0] == (unsigned)cluster &&
		c->cluster[1] == test_startup.cluster) {
		test_mapped = c->memory;
		handle = TEST_CHANNEL | (long)number << 1 | 1;
	}
	pthread_mutex_unlock(&test_os.lock);
	return handle;
}

long
kchannel_wake(int channel)
{
	pthread_mutex_lock(&test_os.lock);
	test_channel_tell_locked(channel);
	pthread_mutex_unlock(&test_os.lock);
	return 0;
}

/* Memory is asked for, to map a channel there. */
long
kmem_alloc(int proc, unsigned long len, int prot, void *addr)
{
	uint64_t at = (uintptr_t)test_mapped;

	(void)proc;
	(void)len;
	(void)prot;
	memcpy(addr, &at, sizeof(at));
	return 0;
}

long
kpage_map(int proc, unsigned long addr, int memory, int first, int count, int prot)
{
	(void)proc;
	(void)first;
	(void)count;
	(void)prot;
	return addr == (uintptr_t)test_channel_of(memory)->memory ? 0 : -E_INVAL;
}

long
kpage_unmap(int proc, unsigned long addr, int count)
{
	(void)proc;
	(void)addr;
	(void)count;
	return 0;
}

/* The memory goes with the side that made it. */
static void
test_channel_end_locked(int handle)
{
	struct test_channel *c = test_channel_of(handle);
	uint32_t *words = (uint32_t *)(void *)c->memory;

	c->ended[handle & 1] = true;
	for (size_t i = 0; (handle & 1) == 0 && i < c->bytes / sizeof(*words); i++)
		__atomic_store_n(&words[i], 0, __ATOMIC_RELAXED);
	test_channel_tell_locked(handle);
}

long
khandle_close(int handle)
{
	pthread_mutex_lock(&test_os.lock);
	if (handle & TEST_CHANNEL)
		test_channel_end_locked(handle);
	test_os.mailboxes[test_startup.cluster].open -= (handle & (TEST_OUT(0, 0) | TEST_PORTAL)) ==
		TEST_OUT(0, 0);
	pthread_mutex_unlock(&test_os.lock);
	return 0;
}

long
kportal_allow(int id, int cluster, int local_port)
{
	struct test_port *p = &test_os.port[test_startup.cluster][id];

	pthread_mutex_lock(&test_os.lock);
	p->allowed = (cluster << 8 | local_port) + 1;
	pthread_cond_broadcast(&test_os.changed);
	pthread_mutex_unlock(&test_os.lock);
	return 0;
}

/* Waits for the allowance, and until the data was read. */
long
kportal_write(int id, unsigned long addr, unsigned long len, uint64_t deadline)
{
	struct test_port *p = &test_os.port[id >> 8 & 15][id & 255];
	int me = ((id >> 24 & 15) << 8 | (id >> 16 & 255)) + 1;

	(void)deadline;
	pthread_mutex_lock(&test_os.lock);
	while (p->allowed != me)
		pthread_cond_wait(&test_os.changed, &test_os.lock);
	p->data = (const void *)addr;
	p->len = len;
	pthread_cond_broadcast(&test_os.changed);
	while (p->data != NULL)
		pthread_cond_wait(&test_os.changed, &test_os.lock);
	pthread_mutex_unlock(&test_os.lock);
	return (long)len;
}

long
kportal_read(int id, unsigned long addr, unsigned long len, uint64_t deadline)
{
	struct test_port *p = &test_os.port[test_startup.cluster][id];

	(void)deadline;
	pthread_mutex_lock(&test_os.lock);
	while (p->data == NULL)
		pthread_cond_wait(&test_os.changed, &test_os.lock);
	if (len > p->len)
		len = p->len;
	memcpy((void *)addr, p->data, len);
	p->data = NULL;
	p->allowed = 0;
	pthread_cond_broadcast(&test_os.changed);
	pthread_mutex_unlock(&test_os.lock);
	return (long)len;
}

/* A job: `ranks` ranks, `per_cluster` in each cluster, all of them run `body`. */
struct test_job {
	unsigned ranks;
	unsigned per_cluster;
	void (*body)(void);
	char *area[TEST_CLUSTERS];
	size_t area_bytes;
};

struct test_rank_start {
	struct test_job *job;
	unsigned rank;
	int tid;
};

static void
test_fill_startup(const struct test_job *job, unsigned rank)
{
	unsigned cluster = rank / job->per_cluster, first = cluster * job->per_cluster;

	test_startup = (struct startup){
		.version = STARTUP_VERSION, .bytes = sizeof(struct startup), .gate = 1,
		.events = (uintptr_t)&test_os.events[cluster], .cluster = cluster,
			.thread = test_tid, .rank = rank, .ranks = job->ranks,
		.local_rank = rank % job->per_cluster,
		.local_ranks = job->ranks - first < job->per_cluster ? job->ranks - first :
			job->per_cluster,
		.base_port = TEST_BASE_PORT, .shared = (uintptr_t)job->area[cluster],
			.shared_bytes = job->area_bytes,
		.placement = (uintptr_t)test_os.placement,
		.parts = (uintptr_t)test_os.parts,
	};
}

static void *
test_rank_main(void *arg)
{
	struct test_rank_start *start = arg;

	test_tid = start->tid;
	test_fill_startup(start->job, start->rank);
	start->job->body();
	return NULL;
}

/* Run a job to its end. area_bytes: 0 for plenty. */
static void
job_run(unsigned ranks, unsigned per_cluster, size_t area_bytes, void (*body)(void))
{
	struct test_job job = {.ranks = ranks, .per_cluster = per_cluster, .body = body,
		.area_bytes = area_bytes ? area_bytes : TEST_AREA_BYTES};
	struct test_rank_start *start = calloc(ranks, sizeof(*start));

	memset(test_os.port, 0, sizeof(test_os.port));
	memset(test_os.events, 0, sizeof(test_os.events));
	memset(test_os.dead, 0, sizeof(test_os.dead));
	memset(test_os.mailboxes, 0, sizeof(test_os.mailboxes));
	test_os.threads = test_os.channels = 0;
	for (unsigned i = 0; i * per_cluster < ranks; i++) {
		test_os.parts[i] = (struct job_part){TEST_BASE_PORT, TEST_BADGE};
		/*
		 * not malloc: sanitizers keep books on all its bytes, of which hardly any are used
		 */
		job.area[i] = mmap(NULL, job.area_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	}
	for (unsigned i = 0; i < ranks; i++)
		test_os.placement[i] = (struct placement){(uint16_t)(i / per_cluster),
			(uint16_t)(i % per_cluster)};
	for (unsigned i = 0; i < ranks; i++) {
		start[i] = (struct test_rank_start){&job, i, test_new_thread()};
		pthread_create(&test_os.thread[start[i].tid].thread, NULL, test_rank_main,
			&start[i]);
	}
	for (unsigned i = 0; i < ranks; i++)
		pthread_join(test_os.thread[start[i].tid].thread, NULL);
	for (unsigned i = 0; i * per_cluster < ranks; i++)
		munmap(job.area[i], job.area_bytes);
	for (int i = 0; i < test_os.channels; i++)
		munmap(test_os.channel[i].memory, test_os.channel[i].bytes);
	free(start);
}

#endif
