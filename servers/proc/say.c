/* SPDX-License-Identifier: MIT
 *
 * What an agent says to the leader: how its part of the job has ended. A slot that is full, perhaps
 * with what a program has written there, is tried again when there is room: the process server
 * never waits for one, so that no two servers wait for each other.
 */
#include <servers/proc/names.h>

bool
agent_say(struct agent *a, struct proc_message *m)
{
	if (!a->say.has_ended || !names_are_settled())
		return false;
	*m = (struct proc_message){.magic = PROC_MAGIC, .op = PROC_ENDED, .job = a->part.job,
		.cluster = a->here.cluster,
		.status = a->say.status, .end = a->say.end};
	return true;
}

void
agent_has_told(struct agent *a)
{
	a->say.has_ended = false;
}
