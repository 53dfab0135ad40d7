/* SPDX-License-Identifier: MIT
 *
 * A process by request (servers/proc/client.h): this program is started again, does nothing, and
 * its end is taken. usage: spawn [--rounds N]. Windows: label 16: all of it; 17: until the answer
 * that it runs.
 */
#include <atoll/kcalls.h>
#include <atoll/startup.h>
#include <hal/perf.h>
#include <servers/proc/client.h>
#include "micro.h"

#define PATH "bin/spawn"
#define BIT 9
#define KILLED 9

static int
start(struct channel *ch, char *what)
{
	char *const args[] = {PATH, what, NULL};
	int pid = process_spawn(ch, &(const struct process_spawn){.path = PATH, .args = args});

	if (pid <= 0)
		exit(1);
	return pid;
}

static void
take_end(struct channel *ch, int pid)
{
	struct proc_status status;

	if (process_wait(ch, pid, 0, &status) != pid || (status.status & ~KILLED) != 0)
		exit(1);
}

int
main(int argc, char **argv)
{
	long rounds = number(argc, argv, "--rounds", 3);
	struct channel ch;

	if (argc > 1 && strcmp(argv[1], "exit") == 0)
		return 0;
	if (argc > 1 && strcmp(argv[1], "stay") == 0)
		for (;;)
			kthread_sleep(WAKE_ANY, FOREVER);
	if (process_open(&ch, (int)atoll_startup()->cluster, BIT) != 0)
		return 1;
	take_end(&ch, start(&ch, "exit"));
	for (long i = 0; i < rounds; i++) {
		int pid;

		hal_mark(LABEL);
		hal_mark(MARK_BEGIN);
		take_end(&ch, start(&ch, "exit"));
		hal_mark(MARK_END);
		hal_mark(LABEL + 1);
		hal_mark(MARK_BEGIN);
		pid = start(&ch, "stay");
		hal_mark(MARK_END);
		process_kill(&ch, pid, KILLED, 0);
		take_end(&ch, pid);
	}
	return 0;
}
