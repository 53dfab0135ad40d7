/* SPDX-License-Identifier: MIT
 *
 * Loading and starting the ranks of a cluster: see part.h.
 */
#include <context.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <base/str.h>
#include <servers/proc/part.h>
#include <servers/proc/personality.h>

#define STACK_MIN (16 * 1024)
#define STACK_MAX (1024 * 1024)
#define MANY_PAGES 32			/* of a rank's data and stack */
/* of a rank, before its stack becomes larger than the least */
#define HEAP_FIRST (36 * 1024)
#define SHARED_PER_RANK (10 * 1024)	/* an inbox of the MPI library at its largest fits */
#define SHARED_PART 32			/* of the free memory that inboxes may take */
/* and the word in which one tells another what it has taken */
#define SHARED_PER_PAIR 4

/* What all ranks of the part have in common. */
struct common {
	struct part *part;
	const struct part_order *order;
	uint64_t stack_bytes;
	uint64_t page_bytes;
	struct startup startup;		/* of local rank 0; each rank gets its own version */
	struct personality_info info;
};

static uint64_t
round_down(uint64_t n, uint64_t unit)
{
	return n - n % unit;
}

static uint64_t
pages_of(uint64_t bytes, uint64_t page_bytes)
{
	return (bytes + page_bytes - 1) / page_bytes;
}

static uint64_t
clamp(uint64_t n, uint64_t low, uint64_t high)
{
	return n < low ? low : n > high ? high : n;
}

uint64_t
part_share_of_memory(uint64_t divisor, uint64_t page_bytes)
{
	uint64_t frames;

	if (kstats(STATS_FRAMES_FREE, &frames) < 0)
		return 0;
	return frames * page_bytes / divisor;
}

/* A page in which the kernel counts what comes to the process: at *addr. 0 or -E_NAME. */
static long
make_events(int proc, uint64_t page_bytes, uint64_t *addr)
{
	long result = kmem_alloc(proc, page_bytes, PAGE_READ, addr);

	return result < 0 ? result : kproc_events(proc, (unsigned long)*addr);
}

/* --- what belongs to no single rank --- */

static struct job_control *
control_of(const struct part *p)
{
	return (struct job_control *)(void *)p->control.memory;
}

/* Control block, placement table, parts, what is inherited, and the program's path. */
static int
make_control(struct common *m, uint32_t clusters)
{
	const struct part_order *o = m->order;
	struct part *p = m->part;
	uint64_t table = sizeof(struct job_control) + p->ranks * sizeof(struct job_rank),
		parts = table + o->ranks * sizeof(*o->place),
		inherit = pages_of(parts + clusters * sizeof(struct job_part), 8) * 8,
		path = inherit + o->inherit_bytes;
	uint64_t pages = pages_of(path + o->path.len + 1, m->page_bytes);
	int result = personality_place(p->proc, pages * m->page_bytes, &m->info);

	p->control.addr = m->info.control;
	if (result == 0)
		result = window_open(&p->control, p->proc, pages, m->page_bytes);
	if (result != 0)
		return result;
	*control_of(p) = (struct job_control){.ranks = p->ranks};
	memcpy(p->control.memory + table, o->place, o->ranks * sizeof(*o->place));
	memcpy(p->control.memory + inherit, o->inherit, o->inherit_bytes);
	memcpy(p->control.memory + path, o->path.at, o->path.len);
	p->parts_at = parts;
	m->startup.control = p->control.addr;
	m->startup.placement = p->control.addr + table;
	m->startup.parts = o->has_parts ? p->control.addr + parts : 0;
	m->info = (struct personality_info){.stacks = p->ranks, .image = m->info.image,
		.control = p->control.addr,
		.pid = o->pid, .parent = o->parent, .is_child = o->is_asked,
		.inherit = o->inherit_bytes > 0 ? p->control.addr + inherit : 0,
		.inherit_bytes = o->inherit_bytes, .program = p->control.addr + path};
	return 0;
}

struct job_part *
part_table(const struct part *p)
{
	return (struct job_part *)(void *)(p->control.memory + p->parts_at);
}

/* The area that the ranks share. */
static long
make_shared(struct common *m)
{
	struct startup *s = &m->startup;
	uint64_t shared = m->order->shared_bytes, ranks = m->part->ranks;

	if (shared == 0)
		shared = clamp(ranks * (SHARED_PER_RANK + ranks * SHARED_PER_PAIR), m->page_bytes,
			part_share_of_memory(SHARED_PART, m->page_bytes));
	s->shared_bytes = pages_of(shared, m->page_bytes) * m->page_bytes;
	return kmem_alloc(m->part->proc, s->shared_bytes, PAGE_READ | PAGE_WRITE, &s->shared);
}

static int
make_process(struct common *m, uint32_t clusters)
{
	int proc = m->part->proc;
	long result = make_control(m, clusters);

	if (result == 0)
		result = make_events(proc, m->page_bytes, &m->startup.events);
	if (result >= 0)
		result = make_shared(m);
	ledger_note(m->order->ledger, "shared area and tables");
	if (result >= 0)
		result = personality_map(proc, &m->info);
	ledger_note(m->order->ledger, "personality");
	return result < 0 ? (int)result : 0;
}

/* --- ranks --- */

/* Near a number of pages, one that at most two runs of frames make. */
static uint64_t
few_runs(uint64_t pages)
{
	uint64_t step = 1;

	while (step * 4 <= pages)
		step *= 2;
	return round_down(pages + step / 2, step);
}

/*
 * About a quarter of what a rank's share of the memory leaves beside its data and a small heap; the
 * rest is for its heap. Data and stack are mapped run by run of frames, and many ranks wait for
 * that: so of many pages, as many as are few runs.
 */
static uint64_t
fitting_stack(const struct part *p, uint64_t page_bytes)
{
	uint64_t data = p->image->plan.private_pages, first = data * page_bytes + HEAP_FIRST,
		share = part_share_of_memory(p->ranks, page_bytes);
	uint64_t stack = clamp(share > first ? (share - first) / 4 : 0, STACK_MIN, STACK_MAX);
	uint64_t pages = few_runs(data + stack / page_bytes);

	if (stack == STACK_MAX || pages < MANY_PAGES || pages < data + STACK_MIN / page_bytes)
		return stack;
	return (pages - data) * page_bytes;
}

/* Random bytes for the program's libc: different in every rank and every run, not secret. */
static uint64_t
scramble(uint64_t seed)
{
	seed += 0x9e3779b97f4a7c15u;
	seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
	seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebu;
	return seed ^ (seed >> 31);
}

int
part_fill_stack(struct copy *c, const struct image *im, const struct words *w,
	struct startup *s, struct stack_place *place)
{
	struct stack_input in = {
		.program = w->program,
		.arg = w->arg,
		.args = w->args,
		.env = w->env,
		.envs = w->envs,
		.startup = s,
		.headers = c->base + im->plan.headers,
		.header_bytes = im->plan.header_bytes,
		.header_count = im->plan.header_count,
		.entry = c->base + im->plan.entry,
		.page_bytes = im->page_bytes,
	};
	uint64_t now = 0;

	kclock(&now);
	in.random[0] = scramble(now ^ (uint64_t)s->rank << 32);
	in.random[1] = scramble(in.random[0]);
	*place = (struct stack_place){.memory = c->stack_memory, .addr = c->stack,
		.bytes = c->stack_bytes};
	s->image_base = c->base + im->plan.first;
	s->image_bytes = im->plan.span - im->plan.first;
	return stack_build(place, &in);
}

/* Make the copy of one rank. */
static int
make_rank(const struct common *m, uint32_t local)
{
	struct part *p = m->part;
	struct startup s = m->startup;
	struct copy c = {.stack_bytes = m->stack_bytes};
	struct stack_place place;
	int result = copy_make(&c, p->image, p->proc);

	if (result != 0)
		return result;
	s.rank = p->rank[local].rank;
	s.local_rank = local;
	result = part_fill_stack(&c, p->image, &m->order->words, &s, &place);
	copy_done(&c);
	p->rank[local].base = c.base;
	p->rank[local].sp = place.sp;
	control_of(p)->rank[local] = (struct job_rank){
		.stack_first = c.stack, .stack_limit = c.stack + c.stack_bytes,
			.startup = place.startup};
	return result;
}

int
part_list_ranks(struct part *p, const struct part_order *o, const struct cluster_info *here)
{
	uint64_t pages = pages_of(p->ranks * sizeof(struct part_rank), here->page_bytes), addr;
	uint32_t local = 0;
	long result = kmem_alloc(SELF, pages * here->page_bytes, PAGE_READ | PAGE_WRITE, &addr);

	if (result < 0)
		return (int)result;
	p->rank = (struct part_rank *)(uintptr_t)addr;
	p->rank_pages = pages;
	for (uint32_t r = 0; r < o->ranks; r++)
		if (o->place[r].cluster == here->cluster)
			p->rank[local++].rank = r;
	return 0;
}

int
part_fill(struct part *p, const struct part_order *o, const struct cluster_info *here)
{
	struct common m = {.part = p, .order = o, .page_bytes = here->page_bytes,
		.startup = {.version = STARTUP_VERSION, .bytes = sizeof(struct startup),
			.gate = atoll_startup()->gate, .cluster = here->cluster, .job = o->job,
			.ranks = o->ranks, .policy = o->policy, .local_ranks = p->ranks,
			.rank_kb = o->rank_kb, .base_port = o->base_port}};
	int result = make_process(&m, here->clusters);

	m.stack_bytes = round_down(o->stack_bytes != 0 ? o->stack_bytes :
		fitting_stack(p, m.page_bytes), m.page_bytes);
	for (uint32_t i = 0; i < p->ranks && result == 0; i++)
		result = make_rank(&m, i);
	if (result == 0)
		ledger_note(o->ledger, "data and stacks");
	return result;
}

int
part_start(const struct part *p, uint32_t first, uint32_t cores)
{
	struct context ctx;

	for (uint32_t i = 0; i < p->ranks; i++) {
		int core = cores > 0 ? (int)(first + i % cores) : ANY_CORE;
		long e;

		context_init(&ctx, (uintptr_t)(p->rank[i].base + p->image->plan.entry),
			(uintptr_t)p->rank[i].sp, 0, 0);
		e = kproc_start(p->proc, &ctx, core);
		/*
		 * a rank that runs already may have ended the whole process: then there is nothing
		 * left to start
		 */
		if (e == -E_SRCH && i > 0)
			return 0;
		if (e < 0)
			return (int)e;
	}
	return 0;
}

void
part_close(struct part *p)
{
	if (p->control.pages != 0)
		window_close(&p->control);
	if (p->rank != NULL)
		kpage_unmap(SELF, (uintptr_t)p->rank, (int)p->rank_pages);
	p->rank = NULL;
}

uint32_t
part_ended(const struct part *p)
{
	return __atomic_load_n(&control_of(p)->ended, __ATOMIC_ACQUIRE);
}
