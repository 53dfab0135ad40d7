/* SPDX-License-Identifier: MIT
 *
 * waitid, and what wait4 and SIGCHLD say of children that stop and go on, or that nobody wants to
 * hear of: the same here and on Linux.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "say.h"

static int to_child[2];

static const char *
code(const siginfo_t *i)
{
	switch (i->si_code) {
	case CLD_EXITED: return "exited";
	case CLD_KILLED:
	case CLD_DUMPED: return "killed";
	case CLD_STOPPED: return "stopped";
	case CLD_CONTINUED: return "continued";
	default: return "?";
	}
}

static void
say_id(const char *what, idtype_t type, id_t id, int options, pid_t child)
{
	siginfo_t i = {.si_signo = 7};

	if (waitid(type, id, &i, options) != 0)
		say(what, -1);
	else if (i.si_signo == 0)
		printf("%s: nothing, %d\n", what, i.si_pid);
	else
		printf("%s: %s, %d, signal %d, %s\n", what, code(&i), i.si_status, i.si_signo,
			i.si_pid == child ? "that child" : "?");
}

static void
say_status(const char *what, pid_t have, pid_t child, int status)
{
	printf("%s: %s, %x\n", what, have == child ? "that child" : have == 0 ? "nothing" :
		"none", have > 0 ? (unsigned)status : 0);
}

/* A child of its own group, which stops when it is told and ends by itself. */
static pid_t
child(int status)
{
	pid_t pid;
	char c;

	fflush(stdout);
	if (pipe(to_child) != 0 || (pid = fork()) < 0)
		exit(1);
	if (pid != 0) {
		close(to_child[0]);
		return pid;
	}
	close(to_child[1]);
	setpgid(0, 0);
	if (read(to_child[0], &c, 1) == 1)
		raise(SIGSTOP);
	if (read(to_child[0], &c, 1) == 1)
		raise(SIGTERM);
	_exit(status);
}

static void
go_on(void)
{
	if (write(to_child[1], "x", 1) != 1)
		exit(1);
}

static void
ends(void)
{
	pid_t pid = child(42);

	say_id("still there", P_PID, (id_t)pid, WEXITED | WNOHANG, pid);
	say_id("still there, of all", P_ALL, 0, WEXITED | WSTOPPED | WCONTINUED | WNOHANG, pid);
	close(to_child[1]);
	say_id("looked at", P_PID, (id_t)pid, WEXITED | WNOWAIT, pid);
	say_id("looked at again", P_ALL, 0, WEXITED | WNOWAIT, pid);
	say_id("of its group", P_PGID, (id_t)pid, WEXITED | WNOWAIT, pid);
	say_id("of this group", P_PGID, 0, WEXITED, pid);
	say_id("taken", P_PID, (id_t)pid, WEXITED, pid);
	say_id("gone", P_PID, (id_t)pid, WEXITED, pid);
	say_id("none", P_ALL, 0, WEXITED, pid);
	say("nothing to wait for", waitid(P_ALL, 0, NULL, WNOHANG));
	say("an option that is none", waitid(P_ALL, 0, NULL, WEXITED | 0x400));
	say("nobody", waitid(P_PID, 0, NULL, WEXITED));
	say("another kind", waitid((idtype_t)9, 0, NULL, WEXITED));
	pid = child(1);
	kill(pid, SIGKILL);
	say_id("killed", P_PID, (id_t)pid, WEXITED, pid);
	close(to_child[1]);
}

static void
stops(void)
{
	int status = 0;
	pid_t pid = child(3);

	go_on();
	say_id("stopped, looked at", P_PID, (id_t)pid, WSTOPPED | WNOWAIT, pid);
	say_id("stopped", P_PID, (id_t)pid, WSTOPPED, pid);
	say_id("no more", P_PID, (id_t)pid, WSTOPPED | WEXITED | WCONTINUED | WNOHANG, pid);
	kill(pid, SIGCONT);
	say_id("goes on, looked at", P_PID, (id_t)pid, WCONTINUED | WNOWAIT, pid);
	say_id("goes on", P_PID, (id_t)pid, WCONTINUED | WEXITED, pid);
	say_id("no more", P_PID, (id_t)pid, WSTOPPED | WEXITED | WCONTINUED | WNOHANG, pid);
	close(to_child[1]);
	say_id("ended", P_PID, (id_t)pid, WEXITED | WSTOPPED, pid);
	pid = child(4);
	go_on();
	say_status("stopped", waitpid(pid, &status, WUNTRACED), pid, status);
	kill(pid, SIGCONT);
	say_status("goes on", waitpid(pid, &status, WCONTINUED), pid, status);
	say_status("no more", waitpid(pid, &status, WCONTINUED | WNOHANG), pid, status);
	go_on();
	say_status("ended by a signal", waitpid(pid, &status, WCONTINUED), pid, status);
	close(to_child[1]);
}

static volatile sig_atomic_t came, codes;

static void
note(int sig, siginfo_t *i, void *context)
{
	(void)sig, (void)context;
	came++;
	codes |= 1 << i->si_code;
}

static void
await(int n)
{
	sigset_t none;

	sigemptyset(&none);
	while (came < n)
		sigsuspend(&none);
}

/* With and without word of a stop. */
static void
told(int flags)
{
	sigset_t set;
	pid_t pid;
	int status;

	came = codes = 0;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGCHLD, &(struct sigaction){.sa_sigaction = note,
		.sa_flags = SA_SIGINFO | flags}, NULL);
	pid = child(5);
	go_on();
	if (flags == 0)
		await(1);
	waitpid(pid, &status, WUNTRACED);
	kill(pid, SIGCONT);
	if (flags == 0)
		await(2);
	waitpid(pid, &status, WCONTINUED);
	close(to_child[1]);
	await(flags == 0 ? 3 : 1);
	printf("told %d times, codes %x\n", (int)came, (unsigned)codes);
	waitpid(pid, &status, 0);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void
unwanted(const char *what, void (*handler)(int), int flags)
{
	pid_t pid;

	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = handler, .sa_flags = flags}, NULL);
	pid = child(6);
	close(to_child[1]);
	say(what, waitpid(pid, NULL, 0));
	pid = child(7);
	close(to_child[1]);
	child(8);
	close(to_child[1]);
	say("all of them", wait(NULL));
	signal(SIGCHLD, SIG_DFL);
	pid = child(9);
	close(to_child[1]);
	say_id("one that is wanted", P_PID, (id_t)pid, WEXITED, pid);
}

int
main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGCHLD, SIG_DFL);
	ends();
	stops();
	told(0);
	told(SA_NOCLDSTOP);
	unwanted("ignored", SIG_IGN, 0);
	unwanted("not waited for", SIG_DFL, SA_NOCLDWAIT);
	printf("ok childwaits\n");
	return 0;
}
