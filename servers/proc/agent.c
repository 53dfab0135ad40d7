/* SPDX-License-Identifier: MIT
 *
 * The agent: starts and ends this cluster's ranks of the job that etc/job describes.
 */
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <servers/proc/child.h>
#include <servers/proc/cores.h>
#include <servers/proc/limits.h>

/* The cores of a cluster that takes ranks of the job. */
static const struct job_cluster *
place_in(const struct job *j, uint32_t cluster)
{
	return j->only.cores > 0 ? &j->only : &j->cluster[cluster];
}

/* What a rank has where ranks have least: the MPI library fits itself to it. */
static uint64_t
least_memory(const struct agent *a)
{
	uint64_t least = 0;

	for (uint32_t c = 0; c < a->here.clusters; c++) {
		uint32_t ranks = a->plan.counts[c];
		uint64_t share = ranks > 0 ? place_in(&a->plan.job, c)->bytes / ranks : 0;

		if (share > 0 && (least == 0 || share < least))
			least = share;
	}
	return least;
}

uint32_t
agent_hundredths(void)
{
	uint64_t now = 0;

	kclock(&now);
	return (uint32_t)(now / 10000000u);
}

long
agent_limit_process(const struct agent *a, const struct member *m, int proc)
{
	long result = limits_divide(proc);

	return result < 0 ? result : cores_begin(a, proc, m->core);
}

/* A place among the processes that programs can name, and what is due to a job's process. */
static int
admit_part(struct agent *a, struct part_order *o)
{
	struct part *p = &a->part;
	struct member *member = family_add_part(&a->family, p->job);
	long result = member == NULL ? -E_NOSPC : kproc_badge(p->proc, member->badge);

	if (result >= 0)
		result = agent_limit_process(a, member, p->proc);
	o->pid = member != NULL ? member->pid : 0;
	if (member != NULL) {
		member->since = agent_hundredths();
		child_name(member, p->image->name);
	}
	return (int)result;
}

void
agent_replace(struct agent *a, int proc)
{
	struct part *p = &a->part;

	part_close(p);
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

/* All parts have the same ports and the same badge. */
static void
fill_table(const struct agent *a)
{
	const struct part *p = &a->part;
	struct job_part *table = part_table(p);

	for (uint32_t c = 0; c < a->here.clusters; c++)
		if (a->plan.counts[c] > 0)
			table[c] = (struct job_part){BASE_PORT, BADGE_OF_JOB(p->job)};
}

static struct part_order
order_of(const struct agent *a, struct ledger *ledger)
{
	const struct job *j = &a->plan.job;
	bool has_ports = place_has_ports(a->plan.counts, a->here.clusters, job_ports(&a->here));

	return (struct part_order){
		.words = {.program = j->program, .arg = j->arg, .args = j->args, .env = j->env,
			.envs = j->envs},
		.path = j->program, .job = a->part.job, .ranks = j->ranks, .policy = j->policy,
		.rank_kb = (uint32_t)(least_memory(a) / 1024),
		.base_port = has_ports ? BASE_PORT : NO_PORTS, .has_parts = has_ports,
		.place = a->plan.place, .stack_bytes = j->stack_bytes,
		.shared_bytes = j->shared_bytes, .ledger = ledger};
}

/* A process with all that its ranks need. 0 or -E_NAME. */
static int
make_part(struct agent *a, struct part_order *o)
{
	struct part *p = &a->part;
	int result = part_list_ranks(p, o, &a->here);

	if (result == 0)
		result = p->proc = (int)kproc_create();
	if (result >= 0)
		result = (int)kevent_bind(EVENT_PROC, p->proc, BIT_END);
	if (result == 0)
		result = admit_part(a, o);
	return result == 0 ? part_fill(p, o, &a->here) : result;
}

static int
start_part(struct agent *a)
{
	static struct image image;
	const struct job_cluster *c = place_in(&a->plan.job, a->here.cluster);
	struct ledger ledger;
	struct part_order o = order_of(a, &ledger);
	struct part *p = &a->part;
	int result;

	p->image = &image;
	ledger_open(&ledger, &a->plan.job, a->here.page_bytes);
	result = image_open(&image, a->plan.job.program, true);
	if (result != 0)
		return result;
	ledger_note(&ledger, "program");
	result = make_part(a, &o);
	if (result == 0) {
		fill_table(a);
		ledger_say(&ledger, a->here.cluster, p->ranks);
		result = part_start(p, c->first_core, c->cores);
	}
	image_close(&image);
	if (result != 0)
		console_print("atoll: cannot start %u ranks of %s in cluster %u: %s%s\n", p->ranks,
		    image.name, a->here.cluster, error_text(result),
		    job_limit_text(&a->plan.job, result));
	return result;
}

static void
not_started(struct agent *a)
{
	a->part.has_failed = true;
	part_close(&a->part);
	agent_ended(a, PROC_END_NOT_STARTED, 1);
}

void
agent_start(struct agent *a, uint32_t job)
{
	begin_part(a, job);
	if (start_part(a) == 0)
		return;
	if (a->part.proc < 0) {
		not_started(a);
		return;
	}
	a->part.has_failed = true;
	kproc_kill(a->part.proc, 1);
}

void
agent_refuse(struct agent *a, uint32_t job)
{
	begin_part(a, job);
	not_started(a);
}

void
agent_kill(struct agent *a, int status)
{
	if (a->part.proc >= 0)
		kproc_kill(a->part.proc, status);
}
