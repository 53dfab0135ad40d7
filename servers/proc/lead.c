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
		l->takes_part[c] = counts[c] > 0;
		l->running += counts[c] > 0;
	}
}

/* The first failure decides the status and ends the others. */
static bool
fail(struct lead *l, int32_t status)
{
	if (l->is_failed)
		return false;
	l->is_failed = true;
	l->status = status != 0 ? status : 1;
	return true;
}

/* A cluster's part is over, once. */
static bool
end_cluster(struct lead *l, uint32_t cluster)
{
	if (cluster >= l->clusters || !l->takes_part[cluster] || l->has_ended[cluster])
		return false;
	l->has_ended[cluster] = true;
	l->running--;
	return true;
}

static void
take_ended(struct lead *l, uint32_t source, const struct proc_message *m, struct lead_action *a)
{
	if (m->job != l->job || !end_cluster(l, source))
		return;
	if (m->end != PROC_END_EXIT && m->end != PROC_END_KILLED)
		a->kill_others = fail(l, m->status);
	else if (!l->is_failed && l->status == 0)
		l->status = m->status;
}

struct lead_action
lead_take(struct lead *l, const struct mail_sender *from, const struct proc_message *m)
{
	struct lead_action a = {0};
	bool was_running = l->running > 0, is_server = from->badge == BADGE_INIT;

	if (m->magic != PROC_MAGIC || !was_running)
		return a;
	if (m->op == PROC_ENDED && is_server)
		take_ended(l, from->cluster, m, &a);
	if (m->op == PROC_JOB_KILL)
		a.kill_others = fail(l, m->status);
	if (m->op == PROC_DEAD && is_server && from->cluster == PROC_LEADER && end_cluster(l, m->cluster))
		a.kill_others = fail(l, 1);	/* who found out has said why */
	a.is_over = l->running == 0;
	if (a.is_over)
		a.kill_others = false;
	return a;
}
