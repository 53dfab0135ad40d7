/* SPDX-License-Identifier: MIT
 *
 * mpiexec: one thread, one loop over events. It starts the ranks, gives the job segment to those
 * who join, passes their output on in whole lines, and ends when they have ended; if it dies
 * itself, the kernel kills the ranks.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include <mpi/exec/job.h>
#include <mpi/exec/message.h>

#define AGAIN_MS 50
#define EXIT_TIMEOUT 124		/* as of timeout(1) */
#define EVENTS 64

static long
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void
job_watch(struct job *j, int fd, int kind, int number)
{
	struct epoll_event e = {.events = EPOLLIN,
		.data.u64 = (uint64_t)kind << 32 | (uint32_t)number};

	if (epoll_ctl(j->events, EPOLL_CTL_ADD, fd, &e) != 0)
		system_error("epoll_ctl");
}

static void
main_take(struct job *j, uint64_t what)
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
		signals_take(j);
		break;
	case EVENT_FAILURE:
		job_start_failed(j);
		break;
	case EVENT_OUT:
		output_take(j, &j->out);
		break;
	case EVENT_ERR:
		output_take(j, &j->err);
		break;
	case EVENT_WATCH:
		ending_of_joined(j, number);
		break;
	default:
		break;
	}
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
	j->limit = 0;
	j->hurries = true;
	job_fail(j, EXIT_TIMEOUT);
}

bool
job_serve(struct job *j, int most_ms)
{
	struct epoll_event e[EVENTS];
	int left = left_of(j->limit), n;

	output_watch(j);
	n = epoll_wait(j->events, e, EVENTS, left >= 0 && (most_ms < 0 || left < most_ms) ? left :
		most_ms);
	for (int i = 0; i < n; i++)
		main_take(j, e[i].data.u64);
	if (j->limit != 0 && now_ms() >= j->limit)
		overrun(j);
	return n > 0;
}

static void
main_run(struct job *j)
{
	long force = 0;			/* when to use it */
	long look = now_ms();		/* when to look for a deadlock */

	j->limit = j->options->timeout_s > 0 ? now_ms() + j->options->timeout_s * 1000l : 0;
	while (j->running > 0) {
		job_serve(j, j->ending ? AGAIN_MS : left_of(look));
		if (now_ms() >= look)
			look = now_ms() + deadlock_look(j);
		if (j->ending && force == 0)
			force = now_ms() + GRACE_MS;
		if (j->ending && now_ms() >= force) {
			job_kill(j);
			force = now_ms() + AGAIN_MS;
		}
	}
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
	j = (struct job){.options = &options, .count = options.ranks,
		.ranks = calloc((size_t)options.ranks, sizeof(struct rank))};
	j.events = epoll_create1(EPOLL_CLOEXEC);
	if (j.ranks == NULL || j.events < 0)
		system_error("cannot start");
	processors_find(&j.processors, &options);
	if (options.report)
		processors_report(&j.processors, options.ranks);
	signals_open(&j);
	output_open(&j);
	/* what a rank leaves behind when it fails becomes our child */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	door_open(&j);
	job_start(&j);
	main_run(&j);
	if (j.status != 0)
		job_sweep();
	output_finish(&j);
	return j.status == 0 && (j.out.lost || j.err.lost) ? 1 : j.status;
}
