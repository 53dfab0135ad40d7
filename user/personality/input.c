/* SPDX-License-Identifier: MIT
 *
 * Standard input: rank 0's is what the machine is given to read, which the file server has
 * (FILE_INPUT): each process that reads it has a handle there. Everybody else's is at its end.
 */
#include <abi/startup.h>
#include <user/personality/files.h>

bool
files_has_input(const struct handler_event *c)
{
	const struct job_control *j = (const struct job_control *)personality_info.control;
	const struct thread_record *r = thread_record(c);

	return j != NULL && r->rank >= 0 &&
		((const struct startup *)j->rank[r->rank].startup)->rank == 0;
}

static struct opened input;

void
files_lose_input(void)
{
	input.kind = OPENED_NONE;
}

struct opened *
files_input(const struct handler_event *c)
{
	struct file_request q = {.op = FILE_INPUT};
	struct file_reply r;

	if (!files_has_input(c))
		return NULL;
	if (input.kind == OPENED_NONE && files_ask(&q, &r) == 0)
		input = (struct opened){.kind = OPENED_PIPE, .handle = r.handle,
			.flags = OPENED_READ, .refs = 1};
	return input.kind == OPENED_NONE ? NULL : &input;
}
