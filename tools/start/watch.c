/* SPDX-License-Identifier: MIT
 *
 * The first seconds of a machine, which are all that most have. What is not a plain end - a signal
 * to us, the time limit, a program that was ended by a signal, a long run - the front command does
 * better: we become it (exec), it finds the machine as its child, and a signal that we have not
 * taken is still pending.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "watch.h"

/* then the front command looks whether the machine gets any CPU */
#define ALONE_MS 10000
#define LOOK_AGAIN_MS 500		/* whether we have come to the foreground */
#define PLAIN_MAX 128			/* beyond: 128 + signal, which wants words */
#define PIECE 4096			/* goes into a pipe that has room as a whole */

struct machine {
	pid_t pid;
	int64_t started_ns;
	int end_fd;			/* readable when it has ended */
	int signal_fd;
	int feed[2];			/* the pipe that passes on a terminal's lines, or -1 */
	bool room;			/* in the pipe */
};

static int64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static _Noreturn void
fail(const struct machine *m, const char *what)
{
	fprintf(stderr, "atoll: %s: %s\n", what, strerror(errno));
	if (m->pid > 0)
		kill(-m->pid, SIGKILL);
	exit(1);
}

static _Noreturn void
become_front(const struct machine *m, const struct prepared *p, char **args)
{
	char main_py[4096], pid[24], started[24], feed[24];
	char *head[] = {(char *)p->python, "-I", "-S", main_py, "+adopt", pid, started, feed};
	size_t heads = sizeof(head) / sizeof(head[0]), count = 0;
	char **argv;

	snprintf(main_py, sizeof(main_py), "%s/tools/cli/main.py", p->root);
	snprintf(pid, sizeof(pid), "%d", (int)m->pid);
	snprintf(started, sizeof(started), "%" PRId64, m->started_ns);
	snprintf(feed, sizeof(feed), "%d", m->feed[1]);
	while (args[count] != NULL)
		count++;
	argv = calloc(heads + count + 1, sizeof(*argv));
	if (argv == NULL)
		fail(m, "no memory");
	memcpy(argv, head, sizeof(head));
	memcpy(argv + heads, args, count * sizeof(*argv));
	execv(p->python, argv);
	fail(m, p->python);
}

static _Noreturn void
become_launcher(const struct machine *m, const struct prepared *p, const sigset_t *mask)
{
	static const int plain[] = {SIGPIPE, SIGINT, SIGTERM};
	char record[32], archive[32];

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		signal(plain[i], SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (m->feed[0] >= 0) {
		dup2(m->feed[0], STDIN_FILENO);
		close(m->feed[0]);
		close(m->feed[1]);
	}
	snprintf(record, sizeof(record), "/proc/self/fd/%d", p->record_fd);
	snprintf(archive, sizeof(archive), "/proc/self/fd/%d", p->archive_fd);
	execl(p->launcher, p->launcher, "--record", record, "--archive", archive, "--stdin",
		p->reader, (char *)NULL);
	fprintf(stderr, "atoll: %s: %s\n", p->launcher, strerror(errno));
	_exit(1);
}

/*
 * A new session is a scheduling group of its own (with sched_autogroup_enabled), which begins
 * without the weight that nice(1) gave us.
 */
static void
keep_nice(pid_t pid)
{
	int nice = getpriority(PRIO_PROCESS, 0);
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/autogroup", (int)pid);
	f = nice != 0 ? fopen(path, "we") : NULL;
	if (f == NULL)
		return;
	fprintf(f, "%d", nice);
	fclose(f);
}

/*
 * The machine has a session of its own. What we share is closed when it runs: from then on its
 * group can be ended, too.
 */
static void
spawn(struct machine *m, const struct prepared *p, const sigset_t *mask)
{
	pid_t parent = getpid();
	int runs[2];
	char none;

	if (pipe2(runs, O_CLOEXEC) != 0)
		fail(m, "cannot make a pipe");
	m->pid = fork();
	if (m->pid < 0)
		fail(m, "cannot start a process");
	if (m->pid == 0) {
		setsid();
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		become_launcher(m, p, mask);
	}
	close(runs[1]);
	while (read(runs[0], &none, 1) < 0 && errno == EINTR)
		;
	close(runs[0]);
	keep_nice(m->pid);
}

static void
close_feed(struct machine *m)
{
	close(m->feed[1]);
	m->feed[1] = -1;
}

/*
 * Linux stops who reads a terminal from a group in the background, and the machine is one: its
 * lines go through a pipe.
 */
static void
open_feed(struct machine *m)
{
	if (!isatty(STDIN_FILENO) || pipe(m->feed) != 0)
		return;
	fcntl(m->feed[1], F_SETFL, O_NONBLOCK);
}

static void
pass_on(struct machine *m)
{
	char piece[PIECE];
	ssize_t n = read(STDIN_FILENO, piece, sizeof(piece));

	if (n <= 0 || write(m->feed[1], piece, (size_t)n) != n)
		close_feed(m);
	m->room = false;
}

/*
 * Wait for at most `ms` for anything to do, and pass on what a terminal has. Returns whether the
 * machine has ended or a signal has come.
 */
static bool
look(struct machine *m, int ms)
{
	struct pollfd fds[3] = {{.fd = m->end_fd, .events = POLLIN},
		{.fd = m->signal_fd, .events = POLLIN}, {.fd = -1}};

	if (m->feed[1] >= 0) {
		if (tcgetpgrp(STDIN_FILENO) != getpgrp())
			ms = ms > LOOK_AGAIN_MS ? LOOK_AGAIN_MS : ms;
		else if (m->room)
			fds[2] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
		else
			fds[2] = (struct pollfd){.fd = m->feed[1], .events = POLLOUT};
	}
	if (poll(fds, 3, ms) <= 0)
		return false;
	if (fds[2].revents != 0 && m->room)
		pass_on(m);
	else if (fds[2].revents & POLLERR)
		close_feed(m);
	else if (fds[2].revents != 0)
		m->room = true;
	return fds[0].revents != 0 || fds[1].revents != 0;
}

static void
wait_alone(struct machine *m, const struct prepared *p)
{
	int64_t alone_ms = p->timeout_ms > 0 && p->timeout_ms < ALONE_MS ? p->timeout_ms : ALONE_MS;

	for (;;) {
		int64_t left_ms = alone_ms - (now_ns() - m->started_ns) / 1000000;

		if (left_ms <= 0 || look(m, (int)left_ms))
			return;
	}
}

/*
 * The signals that end us wait; but one that is ignored, as in a shell's background, stays ignored.
 */
static void
hold_signals(struct machine *m, sigset_t *before)
{
	static const int ends[] = {SIGINT, SIGTERM};
	struct sigaction now;
	sigset_t held;

	sigemptyset(&held);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaddset(&held, ends[i]);
	sigprocmask(SIG_BLOCK, &held, before);
	signal(SIGPIPE, SIG_IGN);
	m->signal_fd = signalfd(-1, &held, SFD_CLOEXEC);
}

int
watch_machine(const struct prepared *p, char **args)
{
	struct machine m = {.started_ns = now_ns(), .feed = {-1, -1}};
	siginfo_t end = {.si_pid = 0};
	sigset_t before;

	hold_signals(&m, &before);
	open_feed(&m);
	spawn(&m, p, &before);
	m.end_fd = (int)syscall(SYS_pidfd_open, m.pid, 0);
	if (m.feed[0] >= 0)
		close(m.feed[0]);
	if (m.end_fd >= 0 && m.signal_fd >= 0)
		wait_alone(&m, p);
	/* not taken: if it becomes the front command's, that takes it */
	if (waitid(P_PID, (id_t)m.pid, &end, WEXITED | WNOHANG | WNOWAIT) != 0 ||
			end.si_pid != m.pid || end.si_code != CLD_EXITED ||
	    end.si_status > PLAIN_MAX)
		become_front(&m, p, args);
	waitpid(m.pid, NULL, 0);
	kill(-m.pid, SIGKILL);		/* the launcher was the last; if not */
	return end.si_status;
}
