/* SPDX-License-Identifier: MIT
 *
 * Joining a job.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <mpi/transport/process/join.h>
#include <mpi/transport/shared.h>

/* A socket that does not stand where the program writes its output, even if that is closed. */
static int
new_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), high;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd);
	return high;
}

static int
connect_to(const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	size_t len = strlen(name);
	int fd = new_socket();

	if (fd < 0 || len >= sizeof(a.sun_path))
		return -1;
	memcpy(a.sun_path + 1, name, len);
	if (connect(fd, (struct sockaddr *)&a,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)) == 0)
		return fd;
	close(fd);
	return -1;
}

#define JOIN_OTHER 1			/* mpiexec is of another version */

/*
 * The answer and the descriptor that comes with it (-1: none). 0, JOIN_OTHER, or -1: there is none.
 */
static int
receive(int fd, struct join_answer *answer, int *passed)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = {answer, sizeof(*answer)};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	ssize_t got;

	do
		got = recvmsg(fd, &m, MSG_CMSG_CLOEXEC | MSG_WAITALL);
	while (got < 0 && errno == EINTR);
	c = got == sizeof(*answer) ? CMSG_FIRSTHDR(&m) : NULL;
	if (c != NULL && c->cmsg_type == SCM_RIGHTS)
		memcpy(passed, CMSG_DATA(c), sizeof(*passed));
	if (got >= (ssize_t)sizeof(answer->version) && answer->version != JOIN_VERSION)
		return JOIN_OTHER;
	return got == sizeof(*answer) ? 0 : -1;
}

/*
 * Whoever listens there must be of our user: a name that mpiexec had can be taken by anybody when
 * it has ended.
 */
static bool
is_ours(int fd, int *pid)
{
	struct ucred who;
	socklen_t len = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) != 0 || who.uid != geteuid())
		return false;
	*pid = who.pid;
	return true;
}

/* Is it memory of that size, and for good? */
static bool
is_sealed(int segment, uint64_t bytes)
{
	struct stat s;
	int seals = fcntl(segment, F_GET_SEALS);

	return seals >= 0 && (seals & JOIN_SEALS) == JOIN_SEALS && fstat(segment, &s) == 0 &&
		(uint64_t)s.st_size == bytes;
}

/* Whatever happens at the other end kills us. */
static int
die_with(int fd)
{
	if (fcntl(fd, F_SETOWN, getpid()) != 0 || fcntl(fd, F_SETSIG, SIGKILL) != 0)
		return -1;
	return fcntl(fd, F_SETFL, O_ASYNC);
}

static int
fail_version(uint32_t rank, int fd, uint32_t theirs)
{
	fprintf(stderr, "MPI rank %u: cannot join the job: mpiexec speaks job protocol %u, this "
		"libmpi_abi.so.1 %d: take both from one installation (PATH, LD_LIBRARY_PATH)\n",
		rank, theirs, JOIN_VERSION);
	close(fd);
	return -1;
}

static int
fail(uint32_t rank, int fd, const char *why)
{
	fprintf(stderr, "MPI rank %u: cannot join the job: %s\n", rank, why);
	if (fd >= 0)
		close(fd);
	return -1;
}

int
join_job(uint32_t rank, struct join *j)
{
	struct join_request request = {JOIN_VERSION, rank};
	struct join_answer answer = {0};
	int fd = connect_to(getenv(JOIN_SOCKET)), got = -1;

	*j = (struct join){.socket = fd, .segment = -1};
	if (fd < 0)
		return fail(rank, fd, "mpiexec does not answer");
	if (!is_ours(fd, &j->launcher))
		return fail(rank, fd, "who answers in mpiexec's place is another user");
	if (send(fd, &request, sizeof(request), MSG_NOSIGNAL) == sizeof(request))
		got = receive(fd, &answer, &j->segment);
	if (got == JOIN_OTHER)
		return fail_version(rank, fd, answer.version);
	if (got != 0)
		return fail(rank, fd, "mpiexec has ended");
	if (answer.answer == JOIN_TAKEN)
		return fail(rank, fd, "another process has joined as this rank");
	if (answer.answer != JOIN_WELCOME || j->segment < 0)
		return fail(rank, fd, "mpiexec refuses");
	j->bytes = answer.bytes;
	if (!is_sealed(j->segment, j->bytes))
		return fail(rank, fd, "mpiexec's memory is not as agreed");
	return 0;
}

static bool
has_ended(int launcher)
{
	struct pollfd p = {.fd = launcher, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

/*
 * The kernel puts the launcher's answer into our queue first and raises the signal for it later, so
 * that whoever is quick would be killed by the answer itself. The launcher says in the segment when
 * its call has returned.
 */
int
join_guard(uint32_t rank, const struct join *j, uint32_t *answered)
{
	while (load_acquire(answered) == 0 && !has_ended(j->socket))
		sched_yield();
	if (die_with(j->socket) != 0)
		return fail(rank, j->socket, "mpiexec's end cannot be watched");
	return has_ended(j->socket) ? fail(rank, j->socket, "mpiexec has ended") : 0;
}
