/* SPDX-License-Identifier: MIT
 *
 * Where the window has no pages for one more channel, fork and waitpid fail; they do not wait for
 * ever. With room again both work. More threads than a process has channels to its process server
 * wait for children at the same time, and each gets its own.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <servers/proc/client.h>
#include "expect.h"

#define BIT 9
#define CHANNELS_MAX 256
#define THREADS 8
#define ROUNDS 20

static struct channel ch[CHANNELS_MAX];

static void
take_note(int sig)
{
	(void)sig;
}

static void
fail_for_want_of_room(void)
{
	int n = 0, result = 0;

	while (n < CHANNELS_MAX && (result = process_open(&ch[n], 0, BIT)) == 0)
		n++;
	expect(result, -E_NOSPC, "the window is full");
	expect(fork(), -1, "fork without a channel");
	expect(errno, EAGAIN, "its error");
	expect(waitpid(-1, NULL, 0), -1, "waitpid without a channel");
	expect(errno, ENOMEM, "its error");
	while (n > 0)
		channel_end(&ch[--n]);
}

static void *
wait_for_own(void *arg)
{
	int number = (int)(intptr_t)arg;

	for (int i = 0; i < ROUNDS; i++) {
		int status = 0;
		pid_t pid = fork();

		if (pid == 0)
			_exit(number);
		if (pid < 0 && errno == EAGAIN)		/* all channels were in use */
			continue;
		expect(pid > 0, 1, "fork");
		expect(waitpid(pid, &status, 0), pid, "the end of the own child");
		expect(WEXITSTATUS(status), number, "its status");
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t thread[THREADS];
	int status = 0;
	pid_t pid;

	signal(SIGCHLD, take_note);
	fail_for_want_of_room();
	/* pages come back when the other side has let go of them */
	while ((pid = fork()) < 0 && errno == EAGAIN)
		kthread_yield();
	if (pid == 0)
		_exit(3);
	expect(pid > 0, 1, "fork where there is room again");
	expect(waitpid(pid, &status, 0), pid, "waitpid where there is room again");
	expect(WEXITSTATUS(status), 3, "the status");
	for (intptr_t i = 0; argc > 1 && i < THREADS; i++)
		expect(pthread_create(&thread[i], NULL, wait_for_own, (void *)i), 0, argv[1]);
	for (int i = 0; argc > 1 && i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return verdict();
}
