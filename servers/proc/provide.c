/* SPDX-License-Identifier: MIT
 *
 * Who has a core of his own, done: see provide.h. What is decided is in provision.c.
 */
#include <atoll/counts.h>
#include <atoll/kcalls.h>
#include <base/str.h>
#include <servers/proc/cores.h>
#include <servers/proc/provide.h>
#include <servers/proc/provision.h>

#define LOOK_NS 40000000u		/* some quanta */
#define CALM_NS 200000000u		/* between looks while nobody is short of a core */
#define STILL_NS 1000000000u		/* and no process runs */
#define RUNS_LEAST 4			/* of so many processes one may share a core */
#define CORES_LEAST 3
#define DECISIONS_MOST 4		/* of one look */

static struct provision *provision;	/* its memory comes when it is needed */
static uint64_t last, next;
static uint32_t made;			/* processes, at the last look */
static bool is_on = true, holds;	/* something is done, or to be taken back */

/* The process that a member is, and nobody else with it; -1: there is none. */
static int
process_alone(const struct agent *a, const struct member *m)
{
	if (m->state != MEMBER_RUNS || m->is_starting || m->part != NULL ||
		(m->is_part && a->part.ranks > 1))
		return -1;
	return m->is_part ? a->part.proc : m->proc;
}

static void
see_processes(struct agent *a, uint32_t us)
{
	struct thread_counts counts;

	for (uint32_t i = 0; i < a->family.used; i++) {
		const struct member *m = &a->family.member[i];
		int proc = m->core == 0 ? process_alone(a, m) : -1;

		if (proc >= 0 && process_counts(proc, &counts) == 0)
			provision_see(provision, i, m->pid, &counts, us);
	}
}

static void
see_places(const struct agent *a)
{
	struct core_info info;

	provision->cores = a->here.cores < PROVISION_CORES ? a->here.cores : PROVISION_CORES;
	for (uint32_t c = 0; c < provision->cores; c++)
		if (kcore_info((int)c, &info) == 0) {
			provision->place[c].role = info.role;
			provision->place[c].threads = info.threads;
		}
}

static void
provide_act(const struct agent *a)
{
	for (int n = 0; n < DECISIONS_MOST; n++) {
		struct decision d = provision_decide(provision);
		const struct member *m = &a->family.member[d.habit];
		struct core_told told;
		long result;

		if (d.kind == DECIDE_NOTHING)
			return;
		if (d.kind == DECIDE_ROLE)
			result = cores_ask((int)d.core, (int)d.role, &told.is);
		else
			result = cores_set(a, process_alone(a, m),
				d.kind == DECIDE_GATHER ? (int)d.core + 1 : 0);
		if (result == 0)
			provision_done(provision, &d);
		else
			provision_failed(provision, &d);
	}
}

/* False: there is no memory for it. */
static bool
provide_begin(void)
{
	uint64_t at;

	if (provision == NULL &&
		kmem_alloc(SELF, sizeof(*provision), PAGE_READ | PAGE_WRITE, &at) == 0)
		provision = (struct provision *)(uintptr_t)at;
	return provision != NULL;
}

static void
provide_look(struct agent *a, uint64_t now)
{
	see_places(a);
	provision_begin(provision);
	see_processes(a, (uint32_t)((now - last) / 1000));
	provision_end(provision);
	provide_act(a);
	holds = provision_holds(provision);
	last = now;
	made = a->family.made;
	next = now + (provision->calm_looks < LOOKS_CALM ? LOOK_NS :
		provision->is_still ? STILL_NS : CALM_NS);
}

void
provide_step(struct agent *a, uint64_t *until)
{
	uint64_t now = 0;

	if (!holds && (!is_on || a->family.runs < RUNS_LEAST || a->here.cores < CORES_LEAST ||
		!provide_begin()))
		return;
	provision->is_off = !is_on;
	kclock(&now);
	if (a->family.made != made && next > last + CALM_NS)
		next = last + CALM_NS;
	if (now >= next)
		provide_look(a, now);
	if (next < *until)
		*until = next;
}

int
provide_ask(const struct process_request *q, void *out)
{
	struct core_told told = {0};
	int result;

	if ((q->flags & PROCESS_CORE_PROVISION) != 0) {
		is_on = q->status != 0;
		return 0;
	}
	result = cores_ask((int)q->args, (q->flags & PROCESS_CORE_ROLE) != 0 ? q->status : -1,
		&told.is);
	if (result != 0)
		return result;
	if (provision != NULL && q->args < provision->cores) {
		told.gathered = provision->place[q->args].gathered;
		told.released = provision->place[q->args].released;
	}
	memcpy(out, &told, sizeof(told));
	return sizeof(told);
}
