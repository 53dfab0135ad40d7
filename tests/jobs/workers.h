/* SPDX-License-Identifier: MIT
 *
 * Processes that work while servers are killed, until they are told to end, and then say by their
 * status whether all was right.
 */
#ifndef TESTS_JOBS_WORKERS_H
#define TESTS_JOBS_WORKERS_H

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atoll/kcalls.h>
#include <servers/proc/client.h>
#include "expect.h"

#define CHANNEL_BIT 9
#define WORKERS 3
#define WRONG 99			/* the status of a worker to which something was wrong */

static struct channel there;		/* to a process server, which kills servers */
static volatile sig_atomic_t is_over;

static void
end_soon(int sig)
{
	(void)sig;
	is_over = 1;
}

/* In their parent, before all others: whose servers are killed. */
static inline void
workers_prepare(int cluster)
{
	signal(SIGTERM, end_soon);
	expect(process_open(&there, cluster, CHANNEL_BIT), 0, "open a channel");
}

static inline void
workers_begin(pid_t pid[WORKERS], void (*work)(int number))
{
	for (int i = 0; i < WORKERS; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			work(i);
		expect(pid[i] > 0, 1, "a worker");
	}
}

static inline void
workers_end(const pid_t pid[WORKERS])
{
	for (int i = 0; i < WORKERS; i++) {
		int status = WRONG;

		kill(pid[i], SIGTERM);
		expect(waitpid(pid[i], &status, 0), pid[i], "the end of a worker");
		expect(status, 0, "how it has ended");
	}
}

/* A server, PROCESS_FILE_SERVER or another, that has begun so many lives has begun one more. */
static inline void
await_life(int server, int lives)
{
	while (process_server(&there, server, 0) <= lives)
		kthread_yield();
}

#endif
