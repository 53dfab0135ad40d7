/* SPDX-License-Identifier: MIT
 *
 * Where processes join the job.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <mpi/exec/job.h>
#include <mpi/exec/message.h>
#include <mpi/transport/process/join.h>

/* SO_PEERPIDFD of asm-generic/socket.h, which older headers do not have */
#define PEER_PIDFD 77

void
door_open(struct job *j)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct timespec now;
	size_t len;

	clock_gettime(CLOCK_REALTIME, &now);
	len = (size_t)snprintf(j->socket_name, sizeof(j->socket_name), "atoll-job-%d-%lx%lx",
		(int)getpid(), (long)now.tv_sec, now.tv_nsec);
	memcpy(a.sun_path + 1, j->socket_name, len);
	j->door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (j->door < 0 || bind(j->door, (struct sockaddr *)&a,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)) != 0 ||
	    listen(j->door, 4096) != 0)
		system_error("cannot open a socket for the ranks");
	job_watch(j, j->door, EVENT_DOOR, 0);
}

void
door_knock(struct job *j)
{
	int fd = accept4(j->door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0)
		job_watch(j, fd, EVENT_JOIN, fd);
}

static struct round *
new_round(const struct job *j)
{
	struct round *r = calloc(1, sizeof(*r));
	uint32_t shift = segment_heap_shift((uint32_t)j->count);
	uint64_t bytes = segment_bytes((uint32_t)j->count, shift),
		common = segment_common_bytes((uint32_t)j->count);

	if (r == NULL)
		return NULL;
	r->descriptor = memfd_create("atoll-job", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (r->descriptor < 0 || ftruncate(r->descriptor, (off_t)bytes) != 0 ||
			fcntl(r->descriptor, F_ADD_SEALS, JOIN_SEALS) != 0)
		system_error("cannot make shared memory for the job");
	r->segment = mmap(NULL, common, PROT_READ | PROT_WRITE, MAP_SHARED, r->descriptor, 0);
	if (r->segment == MAP_FAILED)
		system_error("cannot map the job's shared memory");
	segment_layout(r->segment, (uint32_t)j->count, shift);
	r->mapped = common;
	r->segment->exclusive = j->processors.bound && j->count <= j->processors.bound_count;
	r->segment->processors = (uint32_t)j->processors.count;
	return r;
}

/* The round that a rank joins: the one after that which it has left. */
static struct round *
round_for(struct job *j, const struct rank *r)
{
	struct round **next = r->round ? &r->round->next : &j->rounds;

	if (*next == NULL) {
		*next = new_round(j);
		(*next)->number = r->round ? r->round->number + 1 : 0;
	}
	return *next;
}

/* A rank has left a round. The last to do so leaves the oldest. */
static void
round_pass(struct job *j, struct round *r)
{
	if (r == NULL || ++r->passed < j->count)
		return;
	j->rounds = r->next;
	munmap(r->segment, r->mapped);
	close(r->descriptor);
	free(r);
}

static void
send_answer(int fd, const struct join_answer *answer, int descriptor)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec iov = {(void *)(uintptr_t)answer, sizeof(*answer)};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t done;

	if (descriptor >= 0) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		*CMSG_FIRSTHDR(&m) = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &descriptor, sizeof(descriptor));
	}
	done = sendmsg(fd, &m, MSG_NOSIGNAL);
	(void)done;
}

/* Has the rank's present process ended, or called MPI_Finalize? */
static bool
is_free(const struct job *j, uint32_t number)
{
	const struct round *round = j->ranks[number].round;

	return round == NULL || load_acquire(&round->segment->rank[number].state) == RANK_LEFT;
}

/*
 * Linux 6.5 and later: the process at the other end of a socket, which may be gone by now;
 * otherwise the one of that number.
 */
static int
watch_of(int socket, pid_t pid)
{
	int watch = -1;
	socklen_t len = sizeof(watch);

	if (getsockopt(socket, SOL_SOCKET, PEER_PIDFD, &watch, &len) == 0)
		return watch;
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static void
add_member(struct job *j, struct rank *r, pid_t pid, int socket)
{
	struct member *m = malloc(sizeof(*m));

	if (m == NULL)
		system_error("no memory for a process");
	*m = (struct member){.pid = pid, .socket = socket, .watch = pid != r->pid
		? watch_of(socket, pid) : -1, .next = r->members};
	if (m->watch >= 0)
		job_watch(j, m->watch, EVENT_WATCH, m->watch);
	r->members = m;
	r->joined = pid;
}

void
door_forget(struct rank *r, struct member *m)
{
	struct member **at = &r->members;

	while (*at != m)
		at = &(*at)->next;
	*at = m->next;
	close(m->socket);
	if (m->watch >= 0)
		close(m->watch);
	free(m);
}

/* A process joins as a rank: it is told before it may be seen by others. */
static void
let_in(struct job *j, int number, pid_t pid, int fd)
{
	struct rank *r = &j->ranks[number];
	struct round *before = r->round, *round = round_for(j, r);

	add_member(j, r, pid, fd);
	r->round = round;
	round_pass(j, before);
	round->segment->rank[number].pid = pid;
	store_release(&round->segment->rank[number].state, RANK_ATTACHED);
	send_answer(fd, &(struct join_answer){JOIN_VERSION, JOIN_WELCOME, 0, 0,
		round->segment->bytes}, round->descriptor);
	store_release(&round->segment->rank[number].answered, 1);
	ending_look_for_absent(j);
}

static bool
is_one_of_ours(int fd, struct ucred *who)
{
	socklen_t len = sizeof(*who);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, who, &len) == 0 && who->uid == geteuid();
}

/* A rank's library may be too old to say it. */
static void
say_version(struct job *j, uint32_t theirs)
{
	if (!j->mismatch)
		message("a rank's libmpi_abi.so.1 speaks job protocol %u, this mpiexec %d: take "
			"both from one installation (PATH, LD_LIBRARY_PATH)",
			theirs, JOIN_VERSION);
	j->mismatch = true;
}

void
door_answer(struct job *j, int fd)
{
	struct join_request request;
	struct ucred who;
	ssize_t got = recv(fd, &request, sizeof(request), 0);

	if (got < 0 && errno == EAGAIN)
		return;
	epoll_ctl(j->events, EPOLL_CTL_DEL, fd, NULL);
	if (got >= (ssize_t)sizeof(request.version) && request.version != JOIN_VERSION)
		say_version(j, request.version);
	if (got != sizeof(request) || !is_one_of_ours(fd, &who) ||
			request.version != JOIN_VERSION || request.rank >= (uint32_t)j->count) {
		send_answer(fd, &(struct join_answer){JOIN_VERSION, JOIN_REFUSED, 0, 0, 0}, -1);
		close(fd);
	} else if (!is_free(j, request.rank)) {
		send_answer(fd, &(struct join_answer){JOIN_VERSION, JOIN_TAKEN,
			j->ranks[request.rank].joined, 0, 0}, -1);
		close(fd);
	} else {
		let_in(j, (int)request.rank, who.pid, fd);
	}
}
