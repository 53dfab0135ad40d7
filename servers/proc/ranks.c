/* SPDX-License-Identifier: MIT
 *
 * Parts of MPI jobs: see ranks.h. Of the rank's ports a part gets some that lie one behind the
 * other. They are given in turn, so that what still goes to the last job's finds no other job soon.
 */
#include <atoll/kcalls.h>
#include <atoll/startup.h>
#include <base/str.h>
#include <servers/proc/images.h>
#include <servers/proc/ranks.h>

/* A part, in pages of its own. */
struct asked_part {
	struct part part;
	struct image image;		/* a copy: the frames that ranks share are not its own */
	uint64_t pages;
};

/* The job that was placed last. */
static struct {
	struct placement *place;
	uint64_t pages;
	uint32_t counts[CLUSTERS_MAX];
} placed;

static struct {
	bool is_taken[PORTS_MAX];	/* from BASE_PORT on */
	uint32_t next;
} ports;

/* --- ports --- */

/* The ranks of the machine's own job have the first ones. */
static bool
port_is_free(const struct agent *a, uint32_t i)
{
	return !ports.is_taken[i] && (a->part.proc < 0 || i >= a->part.ranks);
}

/* Ports that are free from number `first` on, of `limit`. */
static uint32_t
free_from(const struct agent *a, uint32_t first, uint32_t limit)
{
	uint32_t n = 0;

	while (first + n < limit && port_is_free(a, first + n))
		n++;
	return n;
}

static uint32_t
longest_run(const struct agent *a)
{
	uint32_t limit = job_ports(&a->here), most = 0;

	for (uint32_t i = 0; i < limit; i++) {
		uint32_t n = free_from(a, i, limit);

		most = n > most ? n : most;
	}
	return most;
}

/* The first of `count` ports; 0: they are taken. */
static uint32_t
ports_take(const struct agent *a, uint32_t count)
{
	uint32_t limit = job_ports(&a->here);

	for (uint32_t i = 0; i < limit; i++) {
		uint32_t first = (ports.next + i) % limit;

		if (free_from(a, first, limit) < count)
			continue;
		memset(ports.is_taken + first, true, count);
		ports.next = first + count;
		return BASE_PORT + first;
	}
	return 0;
}

static void
ports_give(const struct part *p)
{
	if (p->base_port != NO_PORTS)
		memset(ports.is_taken + p->base_port - BASE_PORT, false, p->ranks);
}

/* --- places --- */

/* The description of the machine's job says which cores are for ranks. */
static void
know_cores(struct agent *a)
{
	if (a->plan.job.ranks == 0)
		job_plan_read(&a->plan, &a->here, false);
}

void
ranks_room(struct agent *a, struct process_room *room)
{
	uint64_t frames = 0;

	know_cores(a);
	room->cores = job_cores(&a->plan.job, &a->here, a->here.cluster);
	room->ports = longest_run(a);
	room->free_bytes = part_share_of_memory(1, a->here.page_bytes);
	kstats(STATS_FRAMES_TOTAL, &frames);
	room->bytes = frames * a->here.page_bytes;
}

int
ranks_domain(uint32_t domain, char *to)
{
	for (int i = 0; i < DOMAIN_WORDS; i++) {
		uint64_t value = 0;
		uint32_t word;

		if (domain >= DOMAINS_MAX ||
			kstats(STATS_DOMAIN + (int)domain * DOMAIN_WORDS + i, &value) != 0)
			return -E_INVAL;
		word = (uint32_t)value;
		memcpy(to + (size_t)i * sizeof(word), &word, sizeof(word));
	}
	return 0;
}

void
ranks_forget(void)
{
	if (placed.place != NULL)
		kpage_unmap(SELF, (uintptr_t)placed.place, (int)placed.pages);
	placed.place = NULL;
}

static bool
makes_sense(const struct process_job *job, uint32_t clusters)
{
	for (uint32_t c = 0; c < clusters; c++)
		if (job->cluster[c].cores > CLUSTER_CORES_MAX)
			return false;
	return job->ranks > 0 && job->ranks <= JOB_RANKS_MAX &&
		(job->policy == MAP_COMPACT || job->policy == MAP_SCATTER);
}

int
ranks_place(struct agent *a, const struct process_job *job)
{
	struct place_request q = {.ranks = job->ranks, .policy = job->policy,
		.clusters = a->here.clusters, .ranks_max = job_ports(&a->here)};
	uint64_t page = a->here.page_bytes, addr;
	int result;

	ranks_forget();
	if (!makes_sense(job, q.clusters))
		return -E_INVAL;
	if (job->ports < q.ranks_max)
		q.ranks_max = job->ports;
	for (uint32_t c = 0; c < q.clusters; c++)
		q.cores[c] = job->cluster[c].cores;
	placed.pages = (job->ranks * sizeof(struct placement) + page - 1) / page;
	result = (int)kmem_alloc(SELF, placed.pages * page, PAGE_READ | PAGE_WRITE, &addr);
	if (result < 0)
		return result;
	placed.place = (struct placement *)(uintptr_t)addr;
	result = place_ranks(&q, placed.place, placed.counts);
	if (result == 0)
		result = (int)placed.counts[a->here.cluster];
	if (result <= 0)
		ranks_forget();
	return result;
}

/* Do the job's ranks live in several clusters? */
static bool
is_spread(const struct agent *a, const struct process_job *job)
{
	return placed.counts[a->here.cluster] < job->ranks;
}

/* As least_memory of the machine's job. */
static uint32_t
least_kb(const struct agent *a, const struct process_job *job)
{
	uint32_t least = 0;

	for (uint32_t c = 0; c < a->here.clusters; c++) {
		uint32_t n = placed.counts[c], share = n > 0 ? job->cluster[c].kb / n : 0;

		if (share > 0 && (least == 0 || share < least))
			least = share;
	}
	return least;
}

/* --- loading --- */

static struct asked_part *
part_take(const struct agent *a)
{
	uint64_t page = a->here.page_bytes, addr;
	uint64_t pages = (sizeof(struct asked_part) + page - 1) / page;
	struct asked_part *p;

	if (kmem_alloc(SELF, pages * page, PAGE_READ | PAGE_WRITE, &addr) < 0)
		return NULL;
	p = (struct asked_part *)(uintptr_t)addr;
	p->part.proc = -1;
	p->pages = pages;
	return p;
}

static void
part_give(struct asked_part *p)
{
	if (p->part.proc >= 0)
		khandle_close(p->part.proc);
	ports_give(&p->part);
	part_close(&p->part);
	kpage_unmap(SELF, (uintptr_t)p, (int)p->pages);
}

/* A process with its ranks. */
static int
ranks_fill(struct agent *a, struct member *m, struct part *p, struct part_order *o)
{
	long result = part_list_ranks(p, o, &a->here);

	if (result == 0)
		result = p->proc = (int)kproc_create();
	if (result >= 0)
		result = child_admit(a, m, p->proc);
	return result < 0 ? (int)result : part_fill(p, o, &a->here);
}

static int
load(struct agent *a, struct member *m, const struct spawn *q, const struct process_job *job)
{
	struct ledger closed = {0};
	struct part_order o = {.words = q->words, .path = {q->path, str_len(q->path)},
		.job = job->job, .ranks = job->ranks, .policy = job->policy,
		.rank_kb = least_kb(a, job), .has_parts = is_spread(a, job),
		.place = placed.place, .inherit = q->inherit, .inherit_bytes = q->inherit_bytes,
		.pid = m->pid, .parent = q->parent, .is_asked = true, .ledger = &closed};
	struct image *image;
	int result = child_find_image(q->path, &image);
	struct asked_part *p;

	/* ranks share their addresses */
	if (result == 0 && image->is_fixed)
		result = -PROCESS_ENOEXEC;
	p = result == 0 ? part_take(a) : NULL;
	if (p == NULL)
		return result != 0 ? result : -E_NOMEM;
	p->image = *image;
	p->part.image = &p->image;
	p->part.job = job->job;
	p->part.ranks = placed.counts[a->here.cluster];
	if (o.has_parts)
		o.base_port = p->part.base_port = ports_take(a, p->part.ranks);
	result = o.has_parts && o.base_port == NO_PORTS ? -E_BUSY : ranks_fill(a, m, &p->part, &o);
	if (result != 0) {
		part_give(p);
		return result;
	}
	m->part = &p->part;
	m->proc = p->part.proc;
	child_name(m, q->path);
	return 0;
}

int
ranks_load(struct agent *a, struct member *m, const struct spawn *q,
	const struct process_job *job)
{
	int result = load(a, m, q, job);

	if (result == -E_NOMEM && images_drop())
		result = load(a, m, q, job);
	ranks_forget();
	return result;
}

int
ranks_start(const struct agent *a, const struct member *m, const struct job_part *parts)
{
	struct part *p = m->part;

	if (p->runs)
		return -E_SRCH;
	p->runs = true;
	memcpy(part_table(p), parts, a->here.clusters * sizeof(*parts));
	return part_start(p, 0, 0);
}

void
ranks_end(struct agent *a, struct member *m, const struct proc_status *status)
{
	struct asked_part *p = (struct asked_part *)(void *)m->part;

	m->missing = p->part.ranks - part_ended(&p->part);
	if (status->cause != CRASH_NONE && status->cause != CRASH_KILLED)
		part_report_crash(&p->part, &a->here);
	part_give(p);
	m->part = NULL;
}
