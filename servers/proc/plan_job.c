/* SPDX-License-Identifier: MIT
 *
 * From etc/job to places.
 */
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <servers/proc/agent.h>

#define JOB_FILE "etc/job"

static int
read_job(struct job *j, bool is_loud)
{
	struct file f;
	uint32_t line = 0;
	int result = file_open(JOB_FILE, &f);

	if (result != 0 && is_loud)
		console_print("atoll: " JOB_FILE ": %s\n", error_text(result));
	if (result != 0)
		return result;
	result = job_parse(j, f.data, f.bytes, &line);
	if (result != 0 && is_loud)
		console_print("atoll: " JOB_FILE ", line %u: %s\n", line, error_text(result));
	return result;
}

uint32_t
job_cores(const struct job *j, const struct cluster_info *here, uint32_t cluster)
{
	if (j->has_clusters)
		return j->cluster[cluster].cores;
	return here->cores > 1 ? here->cores - 1 : 1;
}

uint32_t
job_ports(const struct cluster_info *here)
{
	uint32_t ports = here->mailbox_ports < here->portal_ports ? here->mailbox_ports :
		here->portal_ports;

	return ports > BASE_PORT ? ports - BASE_PORT : 0;
}

/* A table for the largest of jobs would take 32 KB of each cluster. */
static int
make_room(struct job_plan *p)
{
	uint64_t addr;
	long wrong;

	if (p->room >= p->job.ranks)
		return 0;
	wrong = kmem_alloc(SELF, p->job.ranks * sizeof(p->place[0]), PAGE_READ | PAGE_WRITE,
		&addr);
	if (wrong != 0)
		return (int)wrong;
	p->place = (struct placement *)(uintptr_t)addr;
	p->room = p->job.ranks;
	return 0;
}

int
job_plan_read(struct job_plan *p, const struct cluster_info *here, bool is_loud)
{
	struct place_request q = {.clusters = here->clusters, .ranks_max = job_ports(here)};
	int result = read_job(&p->job, is_loud);

	if (result != 0)
		return result;
	q.ranks = p->job.ranks;
	q.policy = p->job.policy;
	for (uint32_t c = 0; c < here->clusters; c++)
		q.cores[c] = p->job.only.cores == 0 ? job_cores(&p->job, here, c) :
			c == p->job.only_cluster ? p->job.only.cores : 0;
	result = make_room(p);
	if (result == 0)
		result = place_ranks(&q, p->place, p->counts);
	if (result != 0 && is_loud)
		console_print("atoll: cannot place %u ranks: %s\n", q.ranks,
		    result == -E_NOSPC ? "the machine has too few ports" :
		    result == -E_NOMEM ? "out of memory" :
		    "no cluster takes ranks");
	return result;
}
