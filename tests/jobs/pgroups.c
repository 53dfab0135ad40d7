/* SPDX-License-Identifier: MIT
 *
 * Process groups and sessions, as far as they need no terminal: who is in which, signals to all of
 * one, waits for one of them. Nothing here knows of Atoll.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unaware.h"

static volatile sig_atomic_t count;

static void
on_signal(int sig)
{
	(void)sig;
	count++;
}

/* A child in a group, which ends by a signal, or when the pipe is closed. */
static pid_t
child_in(pid_t group, const int ends[2])
{
	pid_t pid = fork();
	char c;

	if (pid == 0) {
		close(ends[1]);
		read(ends[0], &c, 1);
		_exit(5);
	}
	expect(setpgid(pid, group), 0, "setpgid of a child");
	return pid;
}

static void
of_children(void)
{
	int ends[2], status;
	pid_t a, b, c;

	pipe(ends);
	a = child_in(0, ends);
	b = child_in(a, ends);
	c = child_in(0, ends);
	expect(getpgid(a) == a && getpgid(b) == a && getpgid(c) == c, 1, "their groups");
	expect(getsid(a) == getsid(0), 1, "their session");
	expect(setpgid(c, 999999) == -1 && errno == EPERM, 1, "no such group");
	expect(setpgid(999999, 0) == -1 && errno == ESRCH, 1, "no such process");
	expect(kill(-a, 0), 0, "there is such a group");
	expect(waitpid(-a, &status, WNOHANG), 0, "it lives");
	expect(kill(-a, SIGTERM), 0, "kill a group");
	for (int i = 0; i < 2; i++) {
		pid_t got = waitpid(-a, &status, 0);

		expect(got == a || got == b, 1, "one of the group");
		expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, 1, "how it ends");
	}
	expect(waitpid(-a, &status, 0) == -1 && errno == ECHILD, 1, "none is left in it");
	expect(kill(-a, 0) == -1 && errno == ESRCH, 1, "there is no such group");
	close(ends[1]);
	expect(waitpid(-c, &status, 0) == c && WEXITSTATUS(status) == 5, 1, "the other one");
	close(ends[0]);
	printf("of children\n");
}

/* In a child, which has a group of its own, so that nobody else is meant. */
static void
own(void)
{
	pid_t pid = fork(), before = getpgrp();
	int status;

	if (pid == 0) {
		int ends[2];
		char c;

		signal(SIGUSR1, on_signal);
		expect(getpgrp() == before, 1, "its parent's");
		expect(setpgid(0, 0), 0, "its own");
		expect(getpgrp() == getpid() && getpgid(0) == getpid(), 1, "its own now");
		expect(setsid() == -1 && errno == EPERM, 1, "it leads a group");
		for (int i = 1; i <= 200; i++) {
			expect(kill(0, SIGUSR1), 0, "the own group, alone");
			expect(count, i, "before the call ends");
		}
		count = 0;
		pipe(ends);
		pid = fork();
		if (pid == 0) {
			write(ends[1], "r", 1);
			while (count == 0)
				continue;
			_exit(getpgrp() == getppid() ? 6 : 7);
		}
		read(ends[0], &c, 1);
		expect(kill(0, SIGUSR1), 0, "the own group");
		expect(count, 1, "it, too");
		expect(waitpid(0, &status, 0) == pid && WEXITSTATUS(status) == 6, 1, "of it");
		_exit(failures);
	}
	expect(waitpid(pid, &status, 0) == pid && status == 0, 1, "a group of its own");
	pid = fork();
	if (pid == 0) {
		expect(setsid() == getpid(), 1, "setsid");
		expect(getsid(0) == getpid() && getpgrp() == getpid(), 1, "it leads both");
		_exit(failures);
	}
	expect(waitpid(pid, &status, 0) == pid && status == 0, 1, "a session of its own");
	printf("own\n");
}

static int
says(void)
{
	return getpgrp() == getpid() ? 8 : 9;
}

static void
programs(const char *path)
{
	char *args[] = {(char *)path, "x", NULL}, *none[] = {NULL};
	posix_spawnattr_t attr;
	int status = 0;
	pid_t pid;

	expect(posix_spawn(&pid, path, NULL, NULL, args, none), 0, "posix_spawn");
	expect(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 9, 1, "its parent's");
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setpgroup(&attr, 0);
	expect(posix_spawn(&pid, path, NULL, &attr, args, none), 0, "posix_spawn");
	expect(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 8, 1, "its own group");
	printf("programs\n");
}

/*
 * A child that stops itself, is looked for, and goes on. It has a group of its own: in one of which
 * no parent is in the session, as that of this program may be, SIGTSTP stops nobody.
 */
static void
stops(int sig)
{
	sigset_t one, none, old;
	pid_t pid;
	int status;

	sigemptyset(&none);
	sigemptyset(&one);
	sigaddset(&one, SIGCHLD);
	signal(SIGCHLD, on_signal);
	sigprocmask(SIG_BLOCK, &one, &old);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		signal(SIGCONT, on_signal);
		count = 0;
		raise(sig);
		_exit(count == 1 ? 12 : 13);
	}
	count = 0;
	sigsuspend(&none);
	expect(count, 1, "its parent is told");
	expect(waitpid(pid, &status, WNOHANG), 0, "it has not ended");
	expect(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status), 1, "it has stopped");
	expect(WSTOPSIG(status), sig, "by what");
	expect(waitpid(pid, &status, WUNTRACED | WNOHANG), 0, "that is said once");
	expect(kill(pid, SIGCONT), 0, "go on");
	expect(waitpid(pid, &status, WUNTRACED) == pid && WEXITSTATUS(status) == 12, 1, "its end");
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		raise(sig);
		_exit(1);
	}
	expect(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status), 1, "another one");
	expect(kill(pid, SIGKILL), 0, "kill it");
	expect(waitpid(pid, &status, 0) == pid && WTERMSIG(status) == SIGKILL, 1, "it is killed");
	sigprocmask(SIG_SETMASK, &old, NULL);
	signal(SIGCHLD, SIG_DFL);
	printf("stops\n");
}

static void
no_terminal(void)
{
	struct winsize size;
	int fd = open("/dev/null", O_RDWR);

	expect(isatty(fd), 0, "isatty");
	expect(tcgetpgrp(fd) == -1 && errno == ENOTTY, 1, "tcgetpgrp");
	expect(ioctl(fd, TIOCGWINSZ, &size) == -1 && errno == ENOTTY, 1, "its size");
	close(fd);
	printf("no terminal\n");
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		return says();
	setvbuf(stdout, NULL, _IOLBF, 0);
	of_children();
	own();
	programs(argv[0]);
	stops(SIGSTOP);
	stops(SIGTSTP);
	no_terminal();
	return verdict("pgroups");
}
