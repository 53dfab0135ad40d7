/* SPDX-License-Identifier: MIT
 *
 * The leader's decisions.
 */
#include <servers/proc/lead.h>

void
lead_begin(struct lead *l, uint32_t job, uint32_t clusters, const uint32_t *counts)
{
	*l = (struct lead){.job = job, .clusters = clusters};
	for (uint32_t c = 0; c < clusters; c++) {
		if (counts[c] == 0)
			continue;
		l->takes_part[c] = true;
		l->due[c] = PROC_START;
		l->running++;
	}
}

bool
lead_waits_for(const struct lead *l, uint32_t cluster)
{
	return cluster < l->clusters && l->takes_part[cluster] && !l->has_ended[cluster];
}

bool
lead_is_over(const struct lead *l)
{
	return l->running == 0;
}

/* A cluster's part is over, once. */
static bool
end_cluster(struct lead *l, uint32_t cluster)
{
	if (!lead_waits_for(l, cluster))
		return false;
	l->has_ended[cluster] = true;
	l->due[cluster] = 0;
	l->running--;
	return true;
}

/* The first failure decides the status and ends the others. */
static void
fail(struct lead *l, int32_t status)
{
	if (l->is_failed)
		return;
	l->is_failed = true;
	l->status = status != 0 ? status : 1;
	for (uint32_t c = 0; c < l->clusters; c++) {
		if (l->due[c] == PROC_START)
			end_cluster(l, c);
		else if (lead_waits_for(l, c))
			l->due[c] = PROC_KILL;
	}
}

void
lead_take(struct lead *l, const struct mail_sender *from, const struct proc_message *m)
{
	if (m->magic != PROC_MAGIC || m->op != PROC_ENDED || from->badge != BADGE_INIT ||
		m->job != l->job)
		return;
	if (!end_cluster(l, from->cluster))
		return;
	if (m->end != PROC_END_EXIT && m->end != PROC_END_KILLED)
		fail(l, m->status);
	else if (!l->is_failed && l->status == 0)
		l->status = m->status;
}

/* Who found it out has said why. */
void
lead_dead(struct lead *l, uint32_t cluster)
{
	if (end_cluster(l, cluster))
		fail(l, 1);
}

void
lead_told(struct lead *l, uint32_t cluster)
{
	l->due[cluster] = 0;
}
