/* SPDX-License-Identifier: MIT
 *
 * The ranks' output on its way through mpiexec. The pipes of one stream stand in an epoll of their
 * own, which the loop leaves out while the sink is full.
 */
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <mpi/exec/job.h>
#include <mpi/exec/message.h>

#define EVENTS 64

void
output_open(struct job *j)
{
	sink_open(&j->out, STDOUT_FILENO);
	sink_open(&j->err, STDERR_FILENO);
	message_through(&j->err);
	job_watch(j, j->out.sources, EVENT_OUT, 0);
	job_watch(j, j->err.sources, EVENT_ERR, 0);
}

static void
output_watch_sink(const struct job *j, struct sink *s, int kind)
{
	bool full = sink_is_full(s), waits = !sink_is_empty(s);
	struct epoll_event sources = {.events = full ? 0 : EPOLLIN,
		.data.u64 = (uint64_t)kind << 32};
	struct epoll_event room = {.events = EPOLLOUT, .data.u64 = (uint64_t)kind << 32};

	if (full != s->stopped)
		epoll_ctl(j->events, EPOLL_CTL_MOD, s->sources, &sources);
	s->stopped = full;
	if (waits != s->watched)
		epoll_ctl(j->events, waits ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, s->fd, &room);
	s->watched = waits;
}

void
output_watch(struct job *j)
{
	output_watch_sink(j, &j->out, EVENT_OUT);
	output_watch_sink(j, &j->err, EVENT_ERR);
}

void
output_take(struct job *j, struct sink *s)
{
	struct epoll_event e[EVENTS];
	int n;

	sink_flush(s);
	n = sink_is_full(s) ? 0 : epoll_wait(s->sources, e, EVENTS, 0);
	for (int i = 0; i < n && !sink_is_full(s); i++) {
		struct rank *r = &j->ranks[e[i].data.u32];

		lines_read(s == &j->out ? &r->out : &r->err);
	}
}

/* False: nobody reads, and we are not to wait for that. */
static bool
output_wait(struct job *j)
{
	return job_serve(j, j->hurries ? GRACE_MS : -1) || !j->hurries;
}

/* What is left in a rank's pipe. */
static bool
output_finish_lines(struct job *j, struct lines *l)
{
	while (l->fd >= 0) {
		if (!sink_is_full(l->sink))
			lines_finish(l);
		else if (!output_wait(j))
			return false;
	}
	return true;
}

void
output_finish(struct job *j)
{
	for (int i = 0; i < j->count; i++)
		if (!output_finish_lines(j, &j->ranks[i].out) ||
			!output_finish_lines(j, &j->ranks[i].err))
			return;
	while (!sink_is_empty(&j->out) || !sink_is_empty(&j->err))
		if (!output_wait(j))
			return;
}
