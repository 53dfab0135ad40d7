/* SPDX-License-Identifier: MIT
 *
 * mpiexec: one thread, one loop over events. It starts the ranks, gives the job segment to those who join, passes their output on in whole
 * lines, and ends when they have ended; if it dies itself, the kernel kills the ranks.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <mpi/exec/job.h>
#include <mpi/exec/message.h>

#define GRACE_MS 250		/* between the wish that ranks end and the end by force */
#define AGAIN_MS 50
#define EXIT_TIMEOUT 124		/* as of timeout(1) */
#define EVENTS 64

void
job_watch(struct job *j, int fd, int kind, int number)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u64 = (uint64_t)kind << 32 | (uint32_t)number};

	if (epoll_ctl(j->events, EPOLL_CTL_ADD, fd, &e) != 0)
		system_error("epoll_ctl");
}

static void
reap(struct job *j)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		ending_of_child(j, pid, status);
}

/* The first time the ranks are asked; a terminal has asked them already. */
static void
interrupted(struct job *j, const struct signalfd_siginfo *s)
{
	int signal = (int)s->ssi_signo;

	if (j->interrupts++ > 0) {
		j->ending = true;
		job_kill(j);
		return;
	}
	j->status = 128 + signal;
	if (signal != SIGINT)
		job_fail(j, 128 + signal);
	else if (s->ssi_code != SI_KERNEL)
		job_signal(j, signal);
}

static void
take_signal(struct job *j)
{
	struct signalfd_siginfo s;

	while (read(j->signals, &s, sizeof(s)) == sizeof(s)) {
		switch (s.ssi_signo) {
		case SIGCHLD:
			reap(j);
			break;
		case SIGUSR1:
		case SIGUSR2:
			job_signal(j, (int)s.ssi_signo);
			break;
		default:
			interrupted(j, &s);
			break;
		}
	}
}

static void
take(struct job *j, uint64_t what)
{
	int number = (int)(uint32_t)what;

	switch (what >> 32) {
	case EVENT_DOOR:
		door_knock(j);
		break;
	case EVENT_JOIN:
		door_answer(j, number);
		break;
	case EVENT_SIGNAL:
		take_signal(j);
		break;
	case EVENT_FAILURE:
		job_start_failed(j);
		break;
	case EVENT_OUT:
		lines_read(&j->ranks[number].out);
		break;
	case EVENT_ERR:
		lines_read(&j->ranks[number].err);
		break;
	case EVENT_WATCH:
		ending_of_joined(j, number);
		break;
	default:
		break;
	}
}

static long
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* For epoll_wait: ms until a time, -1 for none; never so many that an int overflows. */
static int
left_of(long limit)
{
	long left = limit - now_ms();

	if (limit == 0)
		return -1;
	return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

static void
overrun(struct job *j)
{
	message("no end after %d s: the job is ended", j->options->timeout_s);
	job_fail(j, EXIT_TIMEOUT);
}

static void
run(struct job *j)
{
	struct epoll_event e[EVENTS];
	long force = 0;			/* when to use it */
	long limit = j->options->timeout_s > 0 ? now_ms() + j->options->timeout_s * 1000l : 0;

	while (j->running > 0) {
		int n = epoll_wait(j->events, e, EVENTS, j->ending ? AGAIN_MS : left_of(limit));

		for (int i = 0; i < n; i++)
			take(j, e[i].data.u64);
		if (limit != 0 && !j->ending && j->running > 0 && now_ms() >= limit)
			overrun(j);
		if (j->ending && force == 0)
			force = now_ms() + GRACE_MS;
		if (j->ending && now_ms() >= force) {
			job_kill(j);
			force = now_ms() + AGAIN_MS;
		}
	}
}

/* What a shell or nohup made us ignore, the ranks ignore too. */
static bool
is_ignored(int signal)
{
	struct sigaction now;

	return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

static void
open_signals(struct job *j)
{
	static const int wanted[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (wanted[i] == SIGCHLD || !is_ignored(wanted[i]))
			sigaddset(&set, wanted[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	j->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (j->signals < 0)
		system_error("signalfd");
	job_watch(j, j->signals, EVENT_SIGNAL, 0);
}

/* Streams that a shell has closed are empty: else our own descriptors would stand there. */
static void
open_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
}

int
main(int argc, char **argv)
{
	static struct options options;
	static struct job j;

	open_streams();
	options_read(&options, argc, argv);
	j = (struct job){.options = &options, .count = options.ranks, .ranks = calloc((size_t)options.ranks, sizeof(struct rank))};
	j.events = epoll_create1(EPOLL_CLOEXEC);
	if (j.ranks == NULL || j.events < 0)
		system_error("cannot start");
	processors_find(&j.processors, &options);
	if (options.report)
		processors_report(&j.processors, options.ranks);
	open_signals(&j);
	/* what a rank leaves behind when it fails becomes our child */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	door_open(&j);
	job_start(&j);
	run(&j);
	if (j.status != 0)
		job_sweep();
	for (int i = 0; i < j.count; i++) {
		lines_finish(&j.ranks[i].out);
		lines_finish(&j.ranks[i].err);
	}
	return j.status == 0 && (j.out.lost || j.err.lost) ? 1 : j.status;
}
