/* SPDX-License-Identifier: MIT
 *
 * Handlers of signals and masks: who is interrupted, what begins anew, what is inherited. Nothing
 * here knows of Atoll. What has to be there before something else can be tested is waited for by
 * pipes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include "unaware.h"

static volatile sig_atomic_t count, last;
static siginfo_t info;

static void
on_signal(int sig)
{
	last = sig;
	count++;
}

static void
on_info(int sig, siginfo_t *i, void *context)
{
	(void)context;
	on_signal(sig);
	info = *i;
}

static void
action(int sig, void (*handler)(int), int flags)
{
	struct sigaction a = {.sa_handler = handler, .sa_flags = flags};

	expect(sigaction(sig, &a, NULL), 0, "sigaction");
	count = last = 0;
}

static void
info_action(int sig, int flags)
{
	struct sigaction a = {.sa_sigaction = on_info, .sa_flags = flags | SA_SIGINFO};

	expect(sigaction(sig, &a, NULL), 0, "sigaction");
	count = last = 0;
	memset(&info, 0, sizeof(info));
}

static sigset_t
set_of(int sig)
{
	sigset_t s;

	sigemptyset(&s);
	if (sig != 0)
		sigaddset(&s, sig);
	return s;
}

static int
status_of(pid_t pid)
{
	int status = -1;
	pid_t got;

	do
		got = waitpid(pid, &status, 0);
	while (got < 0 && errno == EINTR);
	expect(got == pid, 1, "the child that is waited for");
	return status;
}

static void
own(void)
{
	info_action(SIGUSR1, 0);
	expect(raise(SIGUSR1), 0, "raise");
	expect(count == 1 && last == SIGUSR1, 1, "raised");
	expect(info.si_code, SI_TKILL, "by tkill");
	expect(kill(getpid(), SIGUSR1), 0, "kill itself");
	expect(count == 2 && info.si_code == SI_USER && info.si_pid == getpid(), 1, "by itself");
	expect(kill(getpid(), 0), 0, "there it is");
	expect(kill(getpid(), 99) == -1 && errno == EINVAL, 1, "no signal");
	action(SIGUSR1, on_signal, SA_RESETHAND);
	raise(SIGUSR1);
	expect(signal(SIGUSR1, SIG_IGN) == SIG_DFL, 1, "reset");
	raise(SIGUSR1);
	expect(count, 1, "ignored");
	expect(signal(SIGKILL, SIG_IGN) == SIG_ERR && errno == EINVAL, 1, "SIGKILL");
	printf("own\n");
}

/* The handler sends what it handles: at once, or behind itself. */
static volatile sig_atomic_t depth, deepest;

static void
nests(int sig)
{
	if (++depth > deepest)
		deepest = depth;
	if (++count < 3)
		raise(sig);
	depth--;
}

static void
masks(void)
{
	sigset_t one = set_of(SIGUSR1), old, now;

	action(SIGUSR1, on_signal, 0);
	sigprocmask(SIG_BLOCK, &one, &old);
	raise(SIGUSR1);
	kill(getpid(), SIGUSR1);
	expect(count, 0, "blocked");
	sigpending(&now);
	expect(sigismember(&now, SIGUSR1) == 1 && sigismember(&now, SIGUSR2) == 0, 1, "pending");
	sigprocmask(SIG_SETMASK, &old, NULL);
	expect(count >= 1, 1, "unblocked");
	sigpending(&now);
	expect(sigismember(&now, SIGUSR1), 0, "none is pending");
	action(SIGUSR1, nests, 0);
	raise(SIGUSR1);
	expect(count == 3 && deepest == 1, 1, "one after the other");
	deepest = 0;
	action(SIGUSR1, nests, SA_NODEFER);
	raise(SIGUSR1);
	expect(count == 3 && deepest == 3, 1, "one in the other");
	sigprocmask(SIG_BLOCK, &one, NULL);
	signal(SIGUSR1, SIG_DFL);
	raise(SIGUSR1);
	signal(SIGUSR1, SIG_IGN);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	printf("masks\n");
}

/* A child that tells its parent `sig` after it has read a byte, as often as it reads some. */
static pid_t
teller(int sig, int *to)
{
	int ends[2];
	pid_t pid;
	char c;

	expect(pipe(ends), 0, "pipe");
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		while (read(ends[0], &c, 1) == 1)
			kill(getppid(), sig);
		_exit(0);
	}
	close(ends[0]);
	*to = ends[1];
	return pid;
}

static void
teller_end(pid_t pid, int to)
{
	close(to);
	expect(status_of(pid), 0, "a child that sends signals");
}

static void
computing(void)
{
	int to;
	pid_t pid;
	double x = 1.5, y = 2.25;

	info_action(SIGUSR1, 0);
	pid = teller(SIGUSR1, &to);
	for (int i = 1; i <= 5; i++) {
		write(to, "x", 1);
		while (count < i)
			x = x * y / y;
	}
	expect(x == 1.5 && info.si_pid == pid && info.si_code == SI_USER, 1, "who sent it");
	expect((long)info.si_uid, (long)getuid(), "whose it is");
	teller_end(pid, to);
	printf("computing\n");
}

static void
suspended(void)
{
	sigset_t one = set_of(SIGUSR2), none = set_of(0), old;
	struct timespec second = {60, 0}, nothing = {0, 0};
	siginfo_t i = {0};
	int to;
	pid_t pid;

	action(SIGUSR2, on_signal, 0);
	sigprocmask(SIG_BLOCK, &one, &old);
	pid = teller(SIGUSR2, &to);
	for (int n = 1; n <= 3; n++) {
		write(to, "x", 1);
		expect(sigsuspend(&none) == -1 && errno == EINTR, 1, "sigsuspend");
		expect(count, n, "handled");
	}
	sigprocmask(SIG_BLOCK, NULL, &none);
	expect(sigismember(&none, SIGUSR2), 1, "blocked again");
	none = set_of(0);
	write(to, "x", 1);
	expect(ppoll(NULL, 0, NULL, &none) == -1 && errno == EINTR, 1, "ppoll");
	expect(count, 4, "handled in ppoll");
	write(to, "x", 1);
	expect(sigtimedwait(&one, &i, &second), SIGUSR2, "sigtimedwait");
	expect(i.si_signo == SIGUSR2 && i.si_pid == pid, 1, "what it says");
	expect(count, 4, "not handled");
	expect(sigtimedwait(&one, &i, &nothing) == -1 && errno == EAGAIN, 1, "nothing comes");
	teller_end(pid, to);
	sigprocmask(SIG_SETMASK, &old, NULL);
	printf("suspended\n");
}

static void
timer(int us)
{
	struct itimerval t = {{0, us}, {0, us}};

	expect(setitimer(ITIMER_REAL, &t, NULL), 0, "setitimer");
}

/* Waits that a signal ends: one comes again and again, so that none comes too early. */
static void
interrupted(int flags)
{
	struct timespec hour = {3600, 0}, rest = {0, 0};
	int ends[2], status;
	pid_t sleeper;
	char c = 'a';

	pipe(ends);
	sleeper = fork();
	if (sleeper == 0) {
		close(ends[1]);
		_exit(read(ends[0], &c, 1) == 0 ? 4 : 5);
	}
	action(SIGALRM, on_signal, flags);
	timer(2000);
	expect(nanosleep(&hour, &rest) == -1 && errno == EINTR, 1, "nanosleep");
	expect(rest.tv_sec > 3000, 1, "what is left");
	expect(count > 0, 1, "while it sleeps");
	count = 0;
	expect(poll(&(struct pollfd){.fd = ends[0]}, 1, -1) == -1 && errno == EINTR, 1, "poll");
	expect(count > 0, 1, "while it polls");
	if (flags == 0) {
		expect(read(ends[0], &c, 1) == -1 && errno == EINTR, 1, "read");
		expect(waitpid(sleeper, &status, 0) == -1 && errno == EINTR, 1, "waitpid");
	}
	timer(0);
	close(ends[1]);
	expect(WEXITSTATUS(status_of(sleeper)), 4, "the one that sleeps");
	close(ends[0]);
	action(SIGALRM, SIG_DFL, 0);
	printf("interrupted\n");
}

/* With SA_RESTART a call goes on: what it waits for comes when the handler has run. */
static int late[2];

static void
brings(int sig)
{
	on_signal(sig);
	write(late[1], "y", 1);
}

static void
restarted(void)
{
	int to;
	pid_t pid;
	char c = 0;

	pipe(late);
	action(SIGUSR1, brings, SA_RESTART);
	pid = teller(SIGUSR1, &to);
	write(to, "x", 1);
	expect(read(late[0], &c, 1) == 1 && c == 'y' && count == 1, 1, "read goes on");
	teller_end(pid, to);
	printf("restarted\n");
}

static void
children(void)
{
	sigset_t one = set_of(SIGCHLD), none = set_of(0), old;
	pid_t pid;
	int status;

	info_action(SIGCHLD, SA_RESTART);
	sigprocmask(SIG_BLOCK, &one, &old);
	pid = fork();
	if (pid == 0)
		_exit(7);
	sigsuspend(&none);
	expect(count == 1 && info.si_pid == pid && info.si_status == 7, 1, "who has ended, how");
	expect(info.si_code, CLD_EXITED, "by itself");
	expect(WEXITSTATUS(status_of(pid)), 7, "its status");
	pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	expect(kill(pid, SIGTERM), 0, "kill it");
	sigsuspend(&none);
	expect(info.si_pid == pid && info.si_status == SIGTERM && info.si_code == CLD_KILLED, 1,
		"who was killed");
	status = status_of(pid);
	expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, 1, "by what");
	expect(kill(pid, 0) == -1 && errno == ESRCH, 1, "it is gone");
	sigprocmask(SIG_SETMASK, &old, NULL);
	/* one that waits for another child is interrupted by the handler, and goes on */
	pid = fork();
	if (pid == 0) {
		if (fork() == 0)
			_exit(0);
		wait(NULL);
		_exit(3);
	}
	expect(WEXITSTATUS(status_of(pid)), 3, "a child of a child");
	action(SIGCHLD, SIG_DFL, 0);
	printf("children\n");
}

/* What a child has of it, and what a program. */
static void
inherited(void)
{
	sigset_t both = set_of(SIGUSR1), old;
	int ready[2], status;
	pid_t pid;
	char c;

	pipe(ready);
	action(SIGUSR1, on_signal, 0);
	signal(SIGUSR2, SIG_IGN);
	pid = fork();
	if (pid == 0) {
		count = 0;
		write(ready[1], "r", 1);
		while (count == 0)
			continue;
		_exit(11);
	}
	read(ready[0], &c, 1);
	kill(pid, SIGUSR2);
	kill(pid, SIGUSR1);
	expect(WEXITSTATUS(status_of(pid)), 11, "a child has the handler");
	sigprocmask(SIG_BLOCK, &both, &old);
	raise(SIGUSR1);
	pid = fork();
	if (pid == 0) {
		sigset_t now;

		sigpending(&now);
		_exit(sigismember(&now, SIGUSR1) ? 12 : 13);
	}
	expect(WEXITSTATUS(status_of(pid)), 13, "what is pending is the parent's");
	count = 0;
	sigprocmask(SIG_SETMASK, &old, NULL);
	expect(count, 1, "it is pending");
	/* before it can know of it */
	pid = fork();
	if (pid == 0)
		for (count = 0; count == 0;)
			pause();
	kill(pid, SIGTERM);
	status = status_of(pid);
	expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, 1, "the default");
	printf("inherited\n");
}

static int
says(const char *what)
{
	struct sigaction a;
	sigset_t now;

	sigaction(SIGUSR1, NULL, &a);
	if (a.sa_handler != SIG_DFL)
		return 21;
	sigaction(SIGUSR2, NULL, &a);
	if ((a.sa_handler == SIG_IGN) != (what[0] == 'i'))
		return 22;
	sigprocmask(SIG_BLOCK, NULL, &now);
	if (sigismember(&now, SIGHUP) != 1 || sigismember(&now, SIGTERM) != 0)
		return 23;
	raise(SIGHUP);
	if (what[0] == 'i')
		kill(getpid(), SIGUSR2);
	sigpending(&now);
	return sigismember(&now, SIGHUP) == 1 ? 24 : 25;
}

static void
programs(const char *own)
{
	sigset_t one = set_of(SIGHUP), old;
	pid_t pid;

	action(SIGUSR1, on_signal, 0);
	signal(SIGUSR2, SIG_IGN);
	sigprocmask(SIG_BLOCK, &one, &old);
	pid = fork();
	if (pid == 0) {
		execl(own, own, "ignores", NULL);
		_exit(1);
	}
	expect(WEXITSTATUS(status_of(pid)), 24, "a program ignores and blocks what it did");
	pid = vfork();
	if (pid == 0) {
		signal(SIGUSR2, SIG_DFL);
		execl(own, own, "takes", NULL);
		_exit(1);
	}
	expect(WEXITSTATUS(status_of(pid)), 24, "and does what its parent said");
	expect(signal(SIGUSR2, SIG_IGN) == SIG_IGN, 1, "which is not the parent's");
	sigprocmask(SIG_SETMASK, &old, NULL);
	printf("programs\n");
}

static void
timers(void)
{
	struct itimerval off = {{0, 0}, {0, 0}}, was;
	sigset_t one = set_of(SIGALRM), none = set_of(0), old;

	action(SIGALRM, on_signal, 0);
	timer(2000);
	while (count < 3)
		continue;
	while (count < 5)
		pause();
	expect(setitimer(ITIMER_REAL, &off, &was), 0, "no timer");
	expect(was.it_interval.tv_usec, 2000, "what it was");
	sigprocmask(SIG_BLOCK, &one, &old);
	expect(alarm(3000), 0, "alarm");
	expect(alarm(1) >= 2999, 1, "what is left");
	count = 0;
	sigsuspend(&none);
	expect(count >= 1, 1, "an alarm");
	expect(alarm(0), 0, "no alarm");
	expect(getitimer(ITIMER_REAL, &was), 0, "getitimer");
	expect(was.it_value.tv_sec == 0 && was.it_value.tv_usec == 0, 1, "none");
	sigprocmask(SIG_SETMASK, &old, NULL);
	printf("timers\n");
}

static sigjmp_buf back;
static char *volatile page;

static void
jumps(int sig)
{
	siglongjmp(back, sig);
}

static void
mends(int sig, siginfo_t *i, void *context)
{
	on_info(sig, i, context);
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void
faults(void)
{
	struct sigaction a = {.sa_sigaction = mends, .sa_flags = SA_SIGINFO};
	char *volatile nowhere = (char *)16;
	pid_t pid;
	int status;

	action(SIGSEGV, jumps, 0);
	status = sigsetjmp(back, 1);
	if (status == 0)
		*nowhere = 1;
	expect(status, SIGSEGV, "a bad address");
	status = sigsetjmp(back, 1);
	if (status == 0)
		*nowhere = 1;
	expect(status, SIGSEGV, "and again");
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &a, NULL);
	count = 0;
	page[5] = 'x';
	expect(count == 1 && page[5] == 'x' && info.si_addr == page + 5, 1, "mended");
	pid = fork();
	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL);
		*nowhere = 1;
		_exit(0);
	}
	status = status_of(pid);
	expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, 1, "unhandled");
	action(SIGSEGV, SIG_DFL, 0);
	printf("faults\n");
}

static char stack[65536];
static volatile int was_on;

static void
looks_at_stack(int sig)
{
	char here;

	on_signal(sig);
	was_on = &here >= stack && &here < stack + sizeof(stack);
}

static void
stacks(void)
{
	stack_t s = {.ss_sp = stack, .ss_size = sizeof(stack)}, old;

	expect(sigaltstack(&s, &old), 0, "sigaltstack");
	expect(old.ss_flags, SS_DISABLE, "there was none");
	action(SIGUSR1, looks_at_stack, SA_ONSTACK);
	raise(SIGUSR1);
	expect(was_on, 1, "on the stack");
	action(SIGUSR1, looks_at_stack, 0);
	raise(SIGUSR1);
	expect(was_on, 0, "not on the stack");
	s.ss_flags = SS_DISABLE;
	sigaltstack(&s, NULL);
	printf("stacks\n");
}

/* A thread blocks what another one takes; one is sent to a thread. */
static volatile int in_thread;
static pthread_t other;
static int told[2], asked[2];

static void
notes_thread(int sig)
{
	on_signal(sig);
	in_thread = pthread_equal(pthread_self(), other);
	write(told[1], "t", 1);
}

static void *
thread(void *arg)
{
	sigset_t none = set_of(0);
	char c;

	other = pthread_self();
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	write(told[1], "r", 1);
	while (read(asked[0], &c, 1) != 1)
		continue;
	return arg;
}

static void
threads(void)
{
	sigset_t one = set_of(SIGUSR1), old;
	pthread_t t;
	char c;

	pipe(told);
	pipe(asked);
	action(SIGUSR1, notes_thread, 0);
	sigprocmask(SIG_BLOCK, &one, &old);
	expect(pthread_create(&t, NULL, thread, NULL), 0, "a thread");
	read(told[0], &c, 1);
	expect(kill(getpid(), SIGUSR1), 0, "for the process");
	read(told[0], &c, 1);
	expect(count == 1 && in_thread, 1, "the other thread takes it");
	in_thread = 0;
	expect(pthread_kill(t, SIGUSR1), 0, "for the thread");
	read(told[0], &c, 1);
	expect(count == 2 && in_thread, 1, "it takes it");
	write(asked[1], "e", 1);
	expect(pthread_join(t, NULL), 0, "its end");
	sigprocmask(SIG_SETMASK, &old, NULL);
	printf("threads\n");
}

static void
pipes(void)
{
	int ends[2];

	pipe(ends);
	close(ends[0]);
	action(SIGPIPE, on_signal, 0);
	expect(write(ends[1], "x", 1) == -1 && errno == EPIPE && count == 1, 1, "SIGPIPE");
	signal(SIGPIPE, SIG_IGN);
	expect(write(ends[1], "x", 1) == -1 && errno == EPIPE && count == 1, 1, "ignored");
	close(ends[1]);
	signal(SIGPIPE, SIG_DFL);
	printf("pipes\n");
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		return says(argv[1]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	own();
	masks();
	computing();
	suspended();
	interrupted(0);
	interrupted(SA_RESTART);
	restarted();
	children();
	inherited();
	programs(argv[0]);
	timers();
	faults();
	stacks();
	threads();
	pipes();
	return verdict("signals");
}
