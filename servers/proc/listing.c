/* SPDX-License-Identifier: MIT
 *
 * The list of processes: see listing.h.
 */
#include <atoll/counts.h>
#include <base/str.h>
#include <servers/proc/listing.h>

/*
 * What a process has done, and of its earlier programs the time. Of one that has ended nothing. A
 * process runs whose time goes on from one question to the next.
 */
static void
count_member(const struct agent *a, const struct member *m, struct process_listed *listed)
{
	int proc = m->part != NULL ? m->part->proc : m->is_part ? a->part.proc : m->proc;
	struct thread_counts *counts = &listed->counts, again;

	if (m->state != MEMBER_RUNS || process_counts(proc, counts) < 0)
		memset(counts, 0, sizeof(*counts));
	else if (process_counts(proc, &again) >= 0)
		listed->runs = again.run_ns > counts->run_ns;
	counts->run_ns += m->before_ns;
	counts->core += a->here.first_core;
}

uint32_t
listing_put(struct agent *a, const struct process_request *q, struct process_reply *r, void *out)
{
	const struct member *m = q->told != 0 ? family_by_badge(&a->family, (uint32_t)q->told) :
		family_next(&a->family, q->pid), *parent;
	_Alignas(uint64_t) struct process_listed listed = {0};

	if (m == NULL)
		return 0;
	parent = family_by_badge(&a->family, m->parent.badge);
	r->pid = m->pid;
	r->has_ended = m->state == MEMBER_ENDED;
	r->status = m->status;
	if (m->parent.cluster == a->here.cluster && parent != NULL)
		r->parent = parent->pid;
	if (m->part != NULL)
		r->parent = (int32_t)m->part->job;
	r->ranks = m->is_part ? a->part.ranks : m->part != NULL ? m->part->ranks : 1;
	r->since = m->since;
	r->core = m->core > 0 ? a->here.first_core + m->core : 0;
	count_member(a, m, &listed);
	memcpy(listed.name, m->name, sizeof(m->name));
	memcpy(out, &listed, sizeof(listed));
	return sizeof(listed);
}
