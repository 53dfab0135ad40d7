/* SPDX-License-Identifier: MIT
 *
 * Cores of the cluster: see cores.h. Source: seed 004 4 (core roles), 003 3.
 */
#include <atoll/kcalls.h>
#include <atoll/startup.h>
#include <servers/file/protocol.h>
#include <servers/proc/cores.h>

/* Those that the job's processes are placed on. */
static void
cores_of_job(const struct agent *a, int *first, int *count)
{
	const struct job_cluster *c = &a->plan.job.cluster[a->here.cluster];

	*first = c->cores > 0 ? (int)c->first_core : 0;
	*count = c->cores > 0 ? (int)c->cores : (int)a->here.cores;
}

/* Was it given to another process than `m`? */
static bool
is_given(const struct agent *a, const struct member *m, int core)
{
	const struct family *f = &a->family;

	for (const struct member *other = f->member; other < f->member + f->used; other++)
		if (other != m && other->state == MEMBER_RUNS && other->core == core + 1)
			return true;
	return false;
}

/* The core with this role that has the fewest threads, and 1. */
static int
choose_by_role(const struct agent *a, const struct member *m, uint32_t role)
{
	int best = -E_BUSY;
	uint32_t least = 0;

	for (int core = 0; core < (int)a->here.cores; core++) {
		struct core_info info;

		if (kcore_info(core, &info) < 0 || info.role != role ||
			(role == ROLE_AC && is_given(a, m, core)) ||
			(best > 0 && info.threads >= least))
			continue;
		best = core + 1;
		least = info.threads;
	}
	return best;
}

/* A core by its number in the cluster, and 1. */
static int
choose_core(const struct agent *a, const struct member *m, int core)
{
	struct core_info info;

	if (kcore_info(core, &info) < 0 ||
		(info.role != ROLE_TC && info.role != ROLE_AC))
		return -FILE_ENODEV;
	return info.role == ROLE_AC && is_given(a, m, core) ? -E_BUSY : core + 1;
}

int
cores_choose(const struct agent *a, const struct member *m, int32_t wish)
{
	switch (wish) {
	case PROCESS_CORE_ANY: return 0;
	case PROCESS_CORE_AC: return choose_by_role(a, m, ROLE_AC);
	case PROCESS_CORE_TC: return choose_by_role(a, m, ROLE_TC);
	default: return choose_core(a, m, wish - (int)a->here.first_core);
	}
}

long
cores_set(const struct agent *a, int proc, int core)
{
	int first = core - 1, count = 1;

	if (core == 0)
		cores_of_job(a, &first, &count);
	return kproc_cores(proc, first, count);
}

long
cores_begin(const struct agent *a, int proc, int core)
{
	bool is_any = core == 0 && a->plan.job.cluster[a->here.cluster].cores == 0;

	return is_any ? 0 : cores_set(a, proc, core);
}

int
cores_move(const struct agent *a, struct member *m, int32_t wish)
{
	int core;
	long result;

	if (m->part != NULL || (m->is_part && a->part.ranks > 1))
		return -E_PERM;
	core = cores_choose(a, m, wish);
	if (core < 0)
		return core;
	result = cores_set(a, m->is_part ? a->part.proc : m->proc, core);
	if (result == 0)
		m->core = (uint16_t)core;
	return (int)result;
}

int
cores_ask(int core, int role, struct core_info *out)
{
	long result = role < 0 ? 0 : kcore_role(atoll_startup()->authority, core, role);

	return (int)(result == 0 ? kcore_info(core, out) : result);
}
