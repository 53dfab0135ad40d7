/* SPDX-License-Identifier: MIT
 *
 * What an agent says to other servers. A slot that is full, perhaps with what a program has written
 * there, is tried again when there is room: the process server never waits for one, so that no two
 * servers wait for each other.
 */
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <servers/file/protocol.h>
#include <servers/name/client.h>
#include <servers/proc/agent.h>

/*
 * Have the file server close what a cluster's ranks had open. 0 or -E_NAME of kmailbox_open and
 * kmailbox_write.
 */
static long
forget_files(uint32_t cluster, uint32_t badge)
{
	struct file_request q = {.magic = FILE_MAGIC, .op = FILE_FORGET, .arg = cluster,
		.handle = badge};
	long out = kmailbox_open(FILE_CLUSTER, FILE_PORT), result;

	if (out < 0)
		return out;
	result = kmailbox_write((int)out, &q);
	khandle_close((int)out);
	return result;
}

void
agent_forget(struct agent *a, uint32_t cluster)
{
	a->say.names[cluster] = a->has_names;
	a->say.files[cluster] = a->has_files;
}

/*
 * In the own cluster the job is gone, in another one all are. Whatever is neither said nor tried
 * again is not to be said any more: the server is gone.
 */
static bool
say_forgotten(struct agent *a, uint32_t cluster)
{
	uint32_t badge = cluster == a->here.cluster ? BADGE_JOB + a->part.job : 0;
	struct to_say *s = &a->say;

	s->names[cluster] = s->names[cluster] && name_forget(cluster, badge) == -E_AGAIN;
	s->files[cluster] = s->files[cluster] && forget_files(cluster, badge) == -E_AGAIN;
	return !s->names[cluster] && !s->files[cluster];
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
