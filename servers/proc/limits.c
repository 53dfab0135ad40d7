/* SPDX-License-Identifier: MIT
 *
 * See limits.h. What processes take while it is divided is seen when it is divided again.
 */
#include <abi/errors.h>
#include <atoll/counts.h>
#include <atoll/kcalls.h>
#include <servers/proc/limits.h>
#include <servers/proc/shared.h>

#define KEEP_PART 8			/* of the memory, that is left for what is not shared */

#define LEAST_PAGES 16ull		/* of a new process: with less it would end soon */

static struct agent *agent;

void
limits_begin(struct agent *a)
{
	agent = a;
}

static bool
is_limited(const struct proc_quota *most)
{
	return most->bytes != UINT64_MAX || most->threads != UINT32_MAX ||
		most->processes != UINT32_MAX;
}

/* The i-th handle of a process, two places for each member and one for `more`; 0: nothing there. */
static int
process_at(uint32_t i, int more)
{
	const struct member *m = &agent->family.member[i / 2];
	int proc = more;

	if (i / 2 < agent->family.used) {
		proc = m->state != MEMBER_RUNS ? 0 : i % 2 != 0 ? m->replaced :
			m->is_part ? agent->part.proc : m->proc;
		proc = proc == more ? 0 : proc;
	}
	return proc > 0 ? proc : 0;
}

/* What one has, itself counted as a process. */
static struct proc_quota
used_by(int proc)
{
	struct thread_counts counts;

	if (process_counts(proc, &counts) < 0)
		return (struct proc_quota){.processes = 1};
	return (struct proc_quota){(uint64_t)counts.pages * agent->here.page_bytes, counts.threads,
		1};
}

/* And what all have, together: how many they are. */
static uint32_t
used_by_all(int more, struct proc_quota *all)
{
	uint32_t n = 0;

	*all = (struct proc_quota){(uint64_t)shared_pages(agent->part.job) *
		agent->here.page_bytes, 0, 0};
	for (uint32_t i = 0; i <= 2 * agent->family.used; i++) {
		int proc = process_at(i, more);
		struct proc_quota used;

		if (proc == 0)
			continue;
		used = used_by(proc);
		all->bytes += used.bytes;
		all->threads += used.threads;
		all->processes += used.processes;
		n++;
	}
	return n;
}

static uint64_t
left_of(uint64_t most, uint64_t used)
{
	return most > used ? most - used : 0;
}

int
limits_divide(int more)
{
	const struct proc_quota *most = &agent->plan.job.limit;
	int result = 0;
	struct proc_quota all, one;
	uint32_t n;

	if (agent->part.job == 0)
		return 0;
	if (!is_limited(most))
		return 0;
	n = used_by_all(more, &all);
	if (more != 0 && left_of(most->bytes, all.bytes) / n < LEAST_PAGES * agent->here.page_bytes)
		return -E_NOMEM;
	for (uint32_t i = 0; i <= 2 * agent->family.used; i++) {
		int proc = process_at(i, more), wrong;

		if (proc == 0)
			continue;
		one = used_by(proc);
		one.bytes += left_of(most->bytes, all.bytes) / n;
		one.threads += (uint32_t)left_of(most->threads, all.threads) / n;
		one.processes += (uint32_t)left_of(most->processes, all.processes) / n;
		wrong = (int)kproc_quota(proc, &one);
		result = proc == more ? wrong : result;
	}
	return result;
}

uint32_t
limits_pages(uint32_t job)
{
	const struct proc_quota *most = &agent->plan.job.limit;
	struct proc_quota all;
	uint64_t left;

	if (job == 0 || job != agent->part.job || most->bytes == UINT64_MAX)
		return UINT32_MAX;
	used_by_all(0, &all);
	left = left_of(most->bytes - most->bytes / KEEP_PART, all.bytes) / agent->here.page_bytes;
	return left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
}
