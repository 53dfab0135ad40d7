/* SPDX-License-Identifier: MIT
 *
 * Client of the process server.
 */
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <servers/proc/client.h>
#include <servers/proc/protocol.h>

int
proc_job_kill(int status)
{
	struct proc_message m = {.magic = PROC_MAGIC, .op = PROC_JOB_KILL, .status = status & 255};
	long out = kmailbox_open(PROC_LEADER, PROC_PORT);
	int result;

	if (out < 0)
		return (int)out;
	result = mailbox_send((int)out, &m);
	khandle_close((int)out);
	return result;
}
