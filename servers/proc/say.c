/* SPDX-License-Identifier: MIT
 *
 * What an agent says to other servers. A slot that is full, perhaps with what a program has written
 * there, is tried again when there is room: the process server never waits for one, so that no two
 * servers wait for each other.
 */
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <servers/name/client.h>
#include <servers/proc/agent.h>

void
agent_forget(struct agent *a, uint32_t cluster)
{
	a->say.names[cluster] = a->has_names;
}

/*
 * In the own cluster the job is gone, in another one all are. Whatever is neither said nor tried
 * again is not to be said any more: the server is gone.
 */
static bool
say_forgotten(struct agent *a, uint32_t cluster)
{
	uint32_t badge = cluster == a->here.cluster ? BADGE_OF_JOB(a->part.job) : 0;
	struct to_say *s = &a->say;

	s->names[cluster] = s->names[cluster] && name_forget(cluster, badge) == -E_AGAIN;
	return !s->names[cluster];
}

bool
agent_say(struct agent *a, struct proc_message *m)
{
	bool is_all = true;

	for (uint32_t c = 0; c < a->here.clusters; c++)
		is_all &= say_forgotten(a, c);
	*m = (struct proc_message){.magic = PROC_MAGIC, .op = PROC_ENDED, .job = a->part.job,
		.cluster = a->here.cluster,
		.status = a->say.status, .end = a->say.end};
	return is_all && a->say.has_ended;
}

void
agent_has_told(struct agent *a)
{
	a->say.has_ended = false;
}
