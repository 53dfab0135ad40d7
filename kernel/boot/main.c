/* SPDX-License-Identifier: MIT
 *
 * Boot: core 0 carves the tables out of the cluster's memory, starts the other cores and init, and
 * becomes what its role says.
 */
#include <abi/startup.h>
#include <base/ring.h>
#include <base/str.h>
#include <hal/noc.h>
#include <hal/timer.h>
#include <kernel/mem/mem.h>
#include <kernel/mem/clear.h>
#include <kernel/proc/init.h>
#include <kernel/thread/run.h>

/*
 * Memory that is handed out once, from both sides of a border: what cores share, then what only
 * home uses.
 */
struct carve {
	unsigned char *at;
	unsigned char *end;
};

static void *
carve(struct carve *m, size_t bytes, size_t align)
{
	uintptr_t at = ((uintptr_t)m->at + align - 1) & ~(uintptr_t)(align - 1);

	check(bytes <= (uintptr_t)m->end - at);
	m->at = (unsigned char *)at + bytes;
	return (void *)at;
}

static void *
carve_zeroed(struct carve *m, size_t bytes)
{
	return memset(carve(m, bytes, HAL_CACHE_LINE), 0, bytes);
}

static uint32_t
clamp(size_t n, uint32_t low, uint32_t high)
{
	return n < low ? low : n > high ? high : (uint32_t)n;
}

static uint32_t
record_role(const struct cluster *c, uint32_t core)
{
	return core < c->cores ? c->record->roles[c->record->cluster[c->id].first_core + core] :
		ROLE_GUEST;
}

/*
 * The server of a cluster runs on a TC, where no program can keep it from running. A cluster that
 * was given none shares its last application core, where programs are placed last.
 */
static void
provide_tc(struct cluster *c)
{
	struct core *last = NULL;

	for (uint32_t i = 0; i < c->cores; i++) {
		if (core_at(c, i)->role == ROLE_TC)
			return;
		if (core_at(c, i)->role == ROLE_AC)
			last = core_at(c, i);
	}
	if (last != NULL)
		last->role = last->acts = ROLE_TC;
}

_Static_assert(HAL_RECORD_STRIDE == 0 || sizeof(struct core) <= HAL_RECORD_BYTES, "core.h");

static void
cores_init(struct cluster *c, struct carve *m)
{
	uint32_t all = c->cores + c->guests, order = ring_slots(all),
		ready = ring_slots(c->threads_max);

	c->core = HAL_RECORD_STRIDE != 0 ? hal_core_records() :
		carve_zeroed(m, all * sizeof(struct core));
	am_init(c, carve_zeroed(m, order * sizeof(uint32_t)), order);
	for (uint32_t i = 0; i < all; i++) {
		struct core *core = core_at(c, i);

		core->cluster = c;
		core->id = i;
		core->role = core->acts = record_role(c, i);
		core->role_since = hal_clock_ns();
		core->ready.slot = carve(m, ready * sizeof(uint16_t), HAL_CACHE_LINE);
		core->ready.mask = ready - 1;
		run_queue_init(core);
	}
	provide_tc(c);
	hal_store32(&c->home_runs_users, core_at(c, KERNEL_CORE)->role == ROLE_TC);
}

static void
tables_init(struct cluster *c, struct carve *m)
{
	size_t words = BITMAP_WORDS(c->threads_max),
		placed = (c->cores + c->guests) * sizeof(uint16_t);

	c->thread = carve(m, c->threads_max * sizeof(uintptr_t), HAL_CACHE_LINE);
	c->threads_free = c->threads_max;
	c->proc = carve_zeroed(m, c->procs_max * sizeof(struct process));
	c->deadlines.heap = carve(m,
		DEADLINES_PER_THREAD * c->threads_max * sizeof(struct deadline *),
		sizeof(struct deadline *));
	list_init(&c->procs_free);
	list_init(&c->reaping);
	list_init(&c->sweeps.running);
	for (size_t i = 0; i < sizeof(c->futex) / sizeof(c->futex[0]); i++)
		list_init(&c->futex[i]);
	for (uint32_t i = 0; i < c->procs_max; i++) {
		c->proc[i].indexes = memset(carve(m, words * sizeof(uint32_t), sizeof(uint32_t)), 0,
			words * sizeof(uint32_t));
		c->proc[i].placed = memset(carve(m, placed, sizeof(uint16_t)), 0, placed);
		list_push_back(&c->procs_free, &c->proc[i].free);
	}
}

/* The shared part: everything that more than one core touches. *ikc: memory for ikc_init. */
static struct cluster *
shared_init(const struct boot_record *record, struct carve *m, void **ikc)
{
	size_t bytes = (size_t)(m->end - m->at);
	unsigned char *start = m->at;
	struct cluster *c = carve_zeroed(m, sizeof(*c));

	c->record = record;
	c->id = hal_cluster_id();
	c->cores = record->cluster[c->id].cores;
	c->guests = record->cluster[c->id].guests;
	c->threads_max = clamp(bytes / THREAD_BYTES, THREADS_MIN, THREADS_MAX);
	c->procs_max = clamp(bytes / PROC_BYTES, PROCS_MIN, PROCS_MAX);
	check(c->cores > 0 && c->cores + c->guests <= CLUSTER_CORES_MAX);
	cores_init(c, m);
	tables_init(c, m);
	*ikc = carve(m, ikc_bytes(record), HAL_CACHE_LINE);
	carve(m, 0, HAL_SHARED_ALIGN);
	hal_shared_region(start, (size_t)(m->at - start));
	return c;
}

/*
 * All that there is: the account of the process server, of which those of all other processes are
 * parts.
 */
static void
account_init(struct cluster *c)
{
	quota_init(&c->all, &c->frames);
	c->all.limit[QUOTA_BYTES] = (size_t)c->frames.free * HAL_PAGE_BYTES;
	c->all.limit[QUOTA_THREADS] = c->threads_max;
	c->all.limit[QUOTA_PROCS] = c->procs_max;
}

/* What only home uses, and the frames. */
static void
memory_init(struct cluster *c, struct carve *m)
{
	const struct boot_policy *policy = &c->record->policy[c->record->cluster[c->id].policy];
	void *table, *start, *memory;

	if (policy->flags & POLICY_CORE_ORDER)
		c->core_order = policy;
	console_init(c, carve(m, console_bytes(c->id), 1));
	memory = m->at;
	table = carve(m, frames_table_bytes(m->at, (size_t)(m->end - m->at), policy),
		HAL_CACHE_LINE);
	start = carve(m, 0, HAL_PAGE_BYTES);
	frames_init(&c->frames, table, memory, start, m->end, policy);
	slab_init(&c->slab, &c->frames, sizeof(struct thread));
	/* the boot archive may be larger than the cluster */
	c->claims_max = (size_t)CLAIMS_PER_FRAME * c->frames.total +
		(size_t)(c->record->archive_bytes / HAL_PAGE_BYTES);
	list_init(&c->memory_gone);
	list_init(&c->devices);
	account_init(c);
}

static void
cores_start(struct cluster *c)
{
	hal_publish(c, sizeof(*c));
	hal_publish(c->proc, c->procs_max * sizeof(struct process));
	hal_publish(c->am.order, (c->am.mask + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < c->cores + c->guests; i++)
		hal_publish(core_at(c, i), sizeof(struct core));
	for (uint32_t i = 1; i < c->cores; i++)
		if (core_at(c, i)->role != ROLE_IDLE)
			hal_core_start(i, core_at(c, i));
	clear_choose(c);
}

static void
announce(struct cluster *c)
{
	if (!(c->record->flags & BOOT_QUIET))
		console_message(c, "%u cores, %u KB, %u threads", (unsigned)c->cores,
			(unsigned)((size_t)c->frames.free * HAL_PAGE_BYTES / 1024),
			(unsigned)c->threads_max);
}

_Noreturn void
kernel_boot_main(const struct boot_record *record, void *memory, size_t bytes)
{
	struct carve m = {memory, (unsigned char *)memory + bytes};
	struct cluster *c;
	void *ikc;

	check(record->magic == BOOT_MAGIC && record->version == BOOT_VERSION);
	c = shared_init(record, &m, &ikc);
	hal_core_set_local(core_at(c, KERNEL_CORE));
	memory_init(c, &m);
	hal_noc_init(record);
	ikc_init(c, ikc);
	cores_start(c);
	announce(c);
	if (!(record->flags & BOOT_NO_INIT))
		init_start(c);
	core_loop(core_at(c, KERNEL_CORE));
}

_Noreturn void
kernel_core_main(void *arg)
{
	struct core *core = arg;

	hal_acquire(core, sizeof(*core));
	hal_acquire(core->cluster, sizeof(*core->cluster));
	hal_core_set_local(core);
	core_loop(core);
}

/* What check() calls. */
_Noreturn void
check_failed(const char *file, int line)
{
	hal_panic(file, line, "a check has failed");
}
