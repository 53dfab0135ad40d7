/* SPDX-License-Identifier: MIT
 *
 * The agent: loads and starts this cluster's ranks of a job. All ranks are threads of one process;
 * each has its own copy of the program.
 */
#include <context.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <base/str.h>
#include <servers/proc/agent.h>
#include <servers/proc/ledger.h>
#include <servers/proc/personality.h>
#include <servers/proc/stack.h>

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
	const struct job *job;
	struct part *part;
	uint64_t stack_bytes;
	uint64_t page_bytes;
	struct startup startup;		/* of local rank 0; each rank gets its own version */
	int32_t pid;
	uint64_t program;		/* address of its path */
	struct ledger ledger;
};

static uint64_t
round_down(uint64_t n, uint64_t unit)
{
	return n - n % unit;
}

static uint64_t
clamp(uint64_t n, uint64_t low, uint64_t high)
{
	return n < low ? low : n > high ? high : n;
}

uint64_t
agent_share_of_memory(uint64_t divisor, uint64_t page_bytes)
{
	uint64_t frames;

	if (kstats(STATS_FRAMES_FREE, &frames) < 0)
		return 0;
	return frames * page_bytes / divisor;
}

long
agent_make_events(int proc, uint64_t page_bytes, uint64_t *addr)
{
	long result = kmem_alloc(proc, page_bytes, PAGE_READ, addr);

	return result < 0 ? result : kproc_events(proc, (unsigned long)*addr);
}

/* Control block, placement table and the program's path. */
static int
make_control(struct agent *a, struct common *m)
{
	struct part *p = &a->part;
	uint64_t table = sizeof(struct job_control) + p->ranks * sizeof(struct job_rank);
	uint64_t path = table + m->job->ranks * sizeof(struct placement);
	uint64_t bytes = path + m->job->program.len + 1;
	int result = window_open(&p->control, p->proc, (bytes + m->page_bytes - 1) / m->page_bytes,
		m->page_bytes);

	if (result != 0)
		return result;
	*(struct job_control *)(void *)p->control.memory = (struct job_control){.ranks = p->ranks};
	memcpy(p->control.memory + table, a->plan.place, m->job->ranks * sizeof(struct placement));
	m->startup.control = p->control.addr;
	memcpy(p->control.memory + path, m->job->program.at, m->job->program.len);
	m->startup.placement = p->control.addr + table;
	m->program = p->control.addr + path;
	return 0;
}

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
	uint64_t data = p->image.plan.private_pages, first = data * page_bytes + HEAP_FIRST,
		share = agent_share_of_memory(p->ranks, page_bytes);
	uint64_t stack = clamp(share > first ? (share - first) / 4 : 0, STACK_MIN, STACK_MAX);
	uint64_t pages = few_runs(data + stack / page_bytes);

	if (stack == STACK_MAX || pages < MANY_PAGES || pages < data + STACK_MIN / page_bytes)
		return stack;
	return (pages - data) * page_bytes;
}

/* What a rank has where ranks have least: the MPI library fits itself to it. */
static uint64_t
least_memory(const struct agent *a)
{
	uint64_t least = 0;

	for (uint32_t c = 0; c < a->here.clusters; c++) {
		uint32_t ranks = a->plan.counts[c];
		uint64_t share = ranks > 0 ? a->plan.job.cluster[c].bytes / ranks : 0;

		if (share > 0 && (least == 0 || share < least))
			least = share;
	}
	return least;
}

/* Memory of the process that belongs to no single rank. */
static int
make_process(struct agent *a, struct common *m)
{
	struct part *p = &a->part;
	uint64_t shared = m->job->shared_bytes;
	long result = make_control(a, m);

	if (result == 0)
		result = agent_make_events(p->proc, m->page_bytes, &m->startup.events);
	if (shared == 0)
		shared = clamp(p->ranks * (SHARED_PER_RANK + (uint64_t)p->ranks * SHARED_PER_PAIR),
			m->page_bytes,
		    agent_share_of_memory(SHARED_PART, m->page_bytes));
	m->startup.shared_bytes = round_down(shared + m->page_bytes - 1, m->page_bytes);
	if (result >= 0)
		result = kmem_alloc(p->proc, m->startup.shared_bytes, PAGE_READ | PAGE_WRITE,
			&m->startup.shared);
	ledger_note(&m->ledger, "shared area and tables");
	if (result >= 0)
		result = personality_map(p->proc, &(struct personality_info){.stacks = p->ranks,
			.control = m->startup.control, .pid = m->pid,
			.program = m->program});
	ledger_note(&m->ledger, "personality");
	m->stack_bytes = round_down(m->job->stack_bytes != 0 ? m->job->stack_bytes :
		fitting_stack(p, m->page_bytes), m->page_bytes);
	return result < 0 ? (int)result : 0;
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
agent_fill_stack(struct copy *c, const struct image *im, const struct words *w,
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
	struct job_control *control = (struct job_control *)(void *)p->control.memory;
	struct startup s = m->startup;
	struct copy c = {.stack_bytes = m->stack_bytes};
	struct stack_place place;
	int result = copy_make(&c, &p->image, p->proc);

	if (result != 0)
		return result;
	s.rank = p->rank[local].rank;
	s.local_rank = local;
	result = agent_fill_stack(&c, &p->image, &(struct words){m->job->program, m->job->arg,
		m->job->env, m->job->args, m->job->envs}, &s, &place);
	copy_done(&c);
	p->rank[local].base = c.base;
	p->rank[local].sp = place.sp;
	control->rank[local] = (struct job_rank){
		.stack_first = c.stack, .stack_limit = c.stack + c.stack_bytes,
			.startup = place.startup};
	return result;
}

long
agent_limit_process(const struct agent *a, int proc)
{
	const struct job_cluster *c = &a->plan.job.cluster[a->here.cluster];
	long result = 0;

	if (a->part.job != 0)
		result = kproc_quota(proc, &a->plan.job.limit);
	if (result >= 0 && c->cores > 0)
		result = kproc_cores(proc, (int)c->first_core, (int)c->cores);
	return result;
}

/* A place among the processes that programs can name, and what is due to a job's process. */
static int
admit_part(struct agent *a, struct common *m)
{
	struct part *p = &a->part;
	const struct member *member = family_add_part(&a->family, p->job);
	long result = member == NULL ? -E_NOSPC : kproc_badge(p->proc, member->badge);

	if (result >= 0)
		result = agent_limit_process(a, p->proc);
	m->pid = member != NULL ? member->pid : 0;
	return (int)result;
}

static int
core_of(const struct agent *a, uint32_t local)
{
	const struct job_cluster *c = &a->plan.job.cluster[a->here.cluster];

	return c->cores > 0 ? (int)(c->first_core + local % c->cores) : ANY_CORE;
}

static int
start_ranks(struct agent *a, struct common *m)
{
	const struct part *p = m->part;
	struct context ctx;

	for (uint32_t i = 0; i < p->ranks; i++) {
		int result = make_rank(m, i);

		if (result != 0)
			return result;
	}
	ledger_note(&m->ledger, "data and stacks");
	ledger_say(&m->ledger, a->here.cluster, p->ranks);
	for (uint32_t i = 0; i < p->ranks; i++) {
		long e;

		context_init(&ctx, (uintptr_t)(p->rank[i].base + p->image.plan.entry),
			(uintptr_t)p->rank[i].sp, 0, 0);
		e = kproc_start(p->proc, &ctx, core_of(a, i));
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

static uint64_t
rank_table_bytes(const struct part *p)
{
	uint64_t page = p->image.page_bytes;

	return round_down(p->ranks * sizeof(struct part_rank) + page - 1, page);
}

/* The part's ranks, by the placement. 0 or -E_NOMEM. */
static int
list_ranks(struct agent *a)
{
	struct part *p = &a->part;
	uint32_t local = 0;
	uint64_t addr;
	long result = kmem_alloc(SELF, rank_table_bytes(p), PAGE_READ | PAGE_WRITE, &addr);

	if (result < 0)
		return (int)result;
	p->rank = (struct part_rank *)(uintptr_t)addr;
	for (uint32_t r = 0; r < a->plan.job.ranks; r++)
		if (a->plan.place[r].cluster == a->here.cluster)
			p->rank[local++].rank = r;
	return 0;
}

void
agent_part_close(struct part *p)
{
	if (p->control.pages != 0)
		window_close(&p->control);
	if (p->rank != NULL)
		kpage_unmap(SELF, (uintptr_t)p->rank,
			(int)(rank_table_bytes(p) / p->image.page_bytes));
	p->rank = NULL;
}

void
agent_replace(struct agent *a, int proc)
{
	struct part *p = &a->part;

	agent_part_close(p);
	p->proc = proc;
	p->is_replaced = true;
	kevent_bind(EVENT_PROC, proc, BIT_END);
}

static void
begin_part(struct agent *a, uint32_t job)
{
	struct part *p = &a->part;

	*p = (struct part){.job = job, .ranks = a->plan.counts[a->here.cluster], .proc = -1};
}

static int
start_part(struct agent *a)
{
	struct part *p = &a->part;
	const struct startup *own = atoll_startup();
	struct common m = {
		.job = &a->plan.job,
		.part = p,
		.page_bytes = a->here.page_bytes,
		.startup = {.version = STARTUP_VERSION, .bytes = sizeof(struct startup),
		.gate = own->gate,
		    .cluster = a->here.cluster, .job = p->job, .ranks = a->plan.job.ranks,
		    .policy = a->plan.job.policy,
		    .local_ranks = p->ranks, .rank_kb = (uint32_t)(least_memory(a) / 1024),
		    .base_port = place_has_ports(a->plan.counts, a->here.clusters,
		    job_ports(&a->here)) ? BASE_PORT : NO_PORTS},
	};
	int result;

	ledger_open(&m.ledger, m.job, m.page_bytes);
	result = image_open(&p->image, a->plan.job.program, true);
	if (result != 0)
		return result;
	ledger_note(&m.ledger, "program");
	result = list_ranks(a);
	if (result == 0)
		result = p->proc = (int)kproc_create();
	if (result >= 0)
		result = (int)kevent_bind(EVENT_PROC, p->proc, BIT_END);
	if (result == 0)
		result = admit_part(a, &m);
	if (result == 0)
		result = make_process(a, &m);
	if (result == 0)
		result = start_ranks(a, &m);
	image_close(&p->image);
	if (result != 0)
		console_print("atoll: cannot start %u ranks of %s in cluster %u: %s%s\n", p->ranks,
		    p->image.name, a->here.cluster, error_text(result),
		    job_limit_text(m.job, result));
	return result;
}

void
agent_start(struct agent *a, uint32_t job)
{
	begin_part(a, job);
	if (start_part(a) == 0)
		return;
	a->part.has_failed = true;
	if (a->part.proc >= 0) {
		kproc_kill(a->part.proc, 1);
		return;
	}
	agent_part_close(&a->part);
	agent_ended(a, PROC_END_NOT_STARTED, 1);
}

void
agent_kill(struct agent *a, int status)
{
	if (a->part.proc >= 0)
		kproc_kill(a->part.proc, status);
}
