/* SPDX-License-Identifier: MIT
 *
 * What a shell does to wait for any of its children: it blocks signals, looks for ends, and waits
 * for SIGCHLD. Masks and actions are said as they were set. Nothing here knows of Atoll.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unaware.h"

#define CHILDREN 5

static volatile sig_atomic_t handled;

static void
on_child(int sig)
{
	handled = sig;
}

static void
actions(void)
{
	struct sigaction a = {.sa_handler = on_child}, old;

	expect(sigaction(SIGCHLD, NULL, &old) == 0 && old.sa_handler == SIG_DFL, 1, "at first");
	expect(sigaction(SIGCHLD, &a, &old) == 0 && old.sa_handler == SIG_DFL, 1, "before");
	expect(sigaction(SIGCHLD, NULL, &old) == 0 && old.sa_handler == on_child, 1, "since then");
	expect(signal(SIGUSR1, SIG_IGN) == SIG_DFL, 1, "what was done about another");
	expect(signal(SIGUSR1, SIG_DFL) == SIG_IGN, 1, "it was ignored");
	expect(sigaction(0, NULL, &old) == -1 && errno == EINVAL, 1, "no signal");
	printf("actions\n");
}

static void
masks(void)
{
	sigset_t all, set, old;

	sigfillset(&all);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	expect(sigprocmask(SIG_BLOCK, &set, &old), 0, "block");
	expect(sigismember(&old, SIGUSR1), 0, "it was not");
	expect(sigprocmask(SIG_BLOCK, &all, &old), 0, "block all");
	expect(sigismember(&old, SIGUSR1) == 1 && sigismember(&old, SIGUSR2) == 0, 1, "one was");
	expect(sigprocmask(SIG_UNBLOCK, &set, NULL), 0, "unblock");
	expect(sigprocmask(SIG_SETMASK, NULL, &old), 0, "look");
	expect(sigismember(&old, SIGUSR1) == 0 && sigismember(&old, SIGUSR2) == 1, 1, "but one");
	if (fork() == 0) {
		sigprocmask(SIG_SETMASK, NULL, &set);
		_exit(sigismember(&set, SIGUSR1) == 0 && sigismember(&set, SIGUSR2) == 1 ? 3 : 4);
	}
	expect(wait(NULL) > 0, 1, "a child's mask");
	sigemptyset(&set);
	expect(sigprocmask(SIG_SETMASK, &set, NULL), 0, "none");
	printf("masks\n");
}

/* As a shell does: the sum of the statuses of all. */
static int
take_all(int count)
{
	sigset_t all, old;
	int status, sum = 0;

	sigfillset(&all);
	while (count > 0) {
		pid_t pid;

		handled = 0;
		pid = waitpid(-1, &status, WNOHANG);
		if (pid > 0) {
			sum += WEXITSTATUS(status);
			count--;
			continue;
		}
		expect(pid, 0, "children that run");
		sigprocmask(SIG_BLOCK, &all, &old);
		while (!handled)
			expect(sigsuspend(&old) == -1 && errno == EINTR, 1, "sigsuspend");
		expect(handled, SIGCHLD, "what came");
		sigprocmask(SIG_SETMASK, &old, NULL);
	}
	return sum;
}

static void
waits(void)
{
	int ends[2], sum = 0;
	char c;

	expect(pipe(ends), 0, "a pipe");
	for (int i = 1; i <= CHILDREN; i++) {
		sum += i;
		if (fork() != 0)
			continue;
		/* none ends before all are there */
		close(ends[1]);
		read(ends[0], &c, 1);
		_exit(i);
	}
	close(ends[0]);
	close(ends[1]);
	expect(take_all(CHILDREN), sum, "the ends of all");
	/* what it does about signals its parent does not see */
	if (vfork() == 0) {
		signal(SIGCHLD, SIG_DFL);
		_exit(9);
	}
	expect(take_all(1), 9, "the end of one without a program");
	printf("waits\n");
}

static void
nothing(void)
{
	struct stat s;
	char c = 'x';
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC), status = -1;

	expect(fd >= 0 && write(fd, "gone", 4) == 4, 1, "into nothing");
	expect(read(fd, &c, 1), 0, "from nothing");
	expect(fstat(fd, &s) == 0 && S_ISCHR(s.st_mode), 1, "what it is");
	expect(stat("/dev/null", &s) == 0 && S_ISCHR(s.st_mode), 1, "what its name is");
	if (fork() == 0)
		_exit(dup2(fd, 0) == 0 && read(0, &c, 1) == 0 ? 6 : 7);
	wait(&status);
	expect(WEXITSTATUS(status), 6, "a child's input");
	expect(close(fd), 0, "close");
	fd = open("/dev/null", O_WRONLY);
	expect(read(fd, &c, 1) == -1 && errno == EBADF, 1, "for writing only");
	close(fd);
	printf("nothing\n");
}

/* --- threads that end --- */

static void
notes(int sig)
{
	handled += sig == SIGALRM;
}

static void *
catches(void *sig)
{
	signal(*(const int *)sig, notes);
	return NULL;
}

static void *
sets_a_timer(void *unused)
{
	setitimer(ITIMER_REAL, &(const struct itimerval){.it_value = {0, 20000}}, NULL);
	return unused;
}

/* Whoever was told of signals has ended: the others hear of them all the same. */
static void
threads(void)
{
	sigset_t mask, old;
	pthread_t t;

	for (int i = 0, sig = SIGRTMIN + 3; i < 16; i++, sig++) {
		int status = -1;

		expect(pthread_create(&t, NULL, catches, &sig), 0, "a thread");
		pthread_join(t, NULL);
		if (fork() == 0) {
			poll(NULL, 0, 2);
			_exit(i);
		}
		expect(wait(&status) > 0 && WEXITSTATUS(status) == i, 1, "a child");
	}
	handled = 0;
	signal(SIGALRM, notes);
	sigemptyset(&mask);
	sigaddset(&mask, SIGALRM);
	sigprocmask(SIG_BLOCK, &mask, &old);
	expect(pthread_create(&t, NULL, sets_a_timer, NULL), 0, "a thread");
	pthread_join(t, NULL);
	while (handled == 0)
		sigsuspend(&old);
	sigprocmask(SIG_SETMASK, &old, NULL);
	signal(SIGALRM, SIG_DFL);
	printf("threads\n");
}

int
main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	actions();
	masks();
	waits();
	nothing();
	threads();
	return verdict("sigchld");
}
