/* SPDX-License-Identifier: MIT
 *
 * Signals from SIGRTMIN on come as often as they were sent, in order, with what was sent with them:
 * the same here and on Linux.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "say.h"

#define MANY 10
#define WORDS (128 / (int)sizeof(int))

static void
say_info(const char *what, const siginfo_t *i, pid_t from)
{
	printf("%s: %s%d, %s, value %ld, %s\n", what, i->si_signo >= SIGRTMIN ? "SIGRTMIN + " : "",
		i->si_signo >= SIGRTMIN ? i->si_signo - SIGRTMIN : i->si_signo,
		i->si_code == SI_QUEUE ? "queued" : i->si_code == SI_USER ? "user" :
		i->si_code == SI_TKILL ? "thread" : "?", (long)i->si_value.sival_ptr,
		i->si_pid == from ? "its sender" : "?");
}

static void
note(int sig, siginfo_t *i, void *context)
{
	(void)sig, (void)context;
	say_info("handler", i, getpid());
}

static long
send_to(pid_t pid, int sig, long value)
{
	return sigqueue(pid, sig, (union sigval){.sival_ptr = (void *)value});
}

static void
block(sigset_t *set)
{
	sigemptyset(set);
	for (int i = 0; i < 4; i++)
		sigaddset(set, SIGRTMIN + i);
	sigaddset(set, SIGUSR1);
	sigprocmask(SIG_BLOCK, set, NULL);
}

static void
take(const char *what, const sigset_t *set, pid_t from)
{
	siginfo_t i;
	int sig = sigtimedwait(set, &i, &(struct timespec){5, 0});

	if (sig < 0)
		say(what, -1);
	else
		say_info(what, &i, from);
}

static void
to_itself(void)
{
	struct sigaction a = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
	sigset_t set;
	pid_t own = getpid();

	block(&set);
	for (int i = 0; i < 4; i++)
		sigaction(SIGRTMIN + i, &a, NULL);
	sigaction(SIGUSR1, &a, NULL);
	for (long i = 0; i < 3; i++) {
		say("second", send_to(own, SIGRTMIN + 1, 100 + i));
		say("first", send_to(own, SIGRTMIN, -i));
		say("one that is not queued", send_to(own, SIGUSR1, 1000 + i));
	}
	say("by kill", kill(own, SIGRTMIN + 2));
	say("by kill again", kill(own, SIGRTMIN + 2));
	for (int i = 0; i < 4; i++)
		sigdelset(&set, SIGRTMIN + i);
	/* one after another: a handler that begins is not stopped by the next one */
	take("not queued, once", &set, own);
	block(&set);
	for (int i = 0; i < 8; i++)
		take("taken", &set, own);
	say("none is left", sigtimedwait(&set, NULL, &(struct timespec){0, 0}));
	send_to(own, SIGRTMIN + 3, 1l << 40);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	block(&set);
}

static void
of_a_child(void)
{
	sigset_t set;
	pid_t parent = getpid(), pid;

	block(&set);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		for (long i = 0; i < MANY; i++)
			if (send_to(parent, SIGRTMIN + 1, i * i) != 0 ||
				send_to(parent, SIGRTMIN, i) != 0)
				_exit(1);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	for (long i = 0; i < 2 * MANY; i++)
		take("from a child", &set, pid);
	say("none is left", sigtimedwait(&set, NULL, &(struct timespec){0, 0}));
}

static void
ignored(void)
{
	sigset_t set;

	block(&set);
	send_to(getpid(), SIGRTMIN, 1);
	send_to(getpid(), SIGRTMIN, 2);
	signal(SIGRTMIN, SIG_IGN);
	signal(SIGRTMIN, SIG_DFL);
	send_to(getpid(), SIGRTMIN, 3);
	take("what was not ignored", &set, getpid());
	say("none is left", sigtimedwait(&set, NULL, &(struct timespec){0, 0}));
}

static void
of_threads(void)
{
	int info[WORDS] = {0, 0, SI_QUEUE, 0, getpid(), 0, 77};
	sigset_t set;

	block(&set);
	say("to a thread", syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGRTMIN,
		info));
	info[6] = 78;
	say("to a process", syscall(SYS_rt_sigqueueinfo, getpid(), SIGRTMIN, info));
	take("of the thread", &set, getpid());
	take("of the process", &set, getpid());
	info[2] = SI_USER;
	say("as if by kill, to another", syscall(SYS_rt_sigqueueinfo, 1, 0, info));
}

int
main(void)
{
	int status = -1;
	pid_t pid;

	setvbuf(stdout, NULL, _IOLBF, 0);
	to_itself();
	of_a_child();
	ignored();
	of_threads();
	say("to nobody", send_to(999999, SIGRTMIN, 0));
	say("no signal", send_to(getpid(), 99, 0));
	say("is there", send_to(getpid(), 0, 0));
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	send_to(pid, SIGRTMIN + 5, 5);
	waitpid(pid, &status, 0);
	say("its default ends a process", WIFSIGNALED(status) && WTERMSIG(status) == SIGRTMIN + 5);
	printf("ok queued\n");
	return 0;
}
