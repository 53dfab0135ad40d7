/* SPDX-License-Identifier: MIT
 *
 * Descriptors in messages: of files, pipes, queues and sockets, several in one message, for which
 * there is not room for all, and of which sender or receiver ends meanwhile. What is on its way is
 * open, and what nobody can receive any more is not. Nothing here knows of Atoll.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unaware.h"

#define MOST 8				/* descriptors in a message here */
#define LATE_MS 60000
#define MANY 300			/* more than there can be sockets or messages at a time */

struct control {
	union {
		char bytes[CMSG_SPACE(MOST * sizeof(int))];
		struct cmsghdr head;
	};
};

static ssize_t
send_fds(int to, const int *fd, size_t count, const char *text)
{
	struct control control = {{{0}}};
	struct iovec v = {(void *)(uintptr_t)text, strlen(text)};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = CMSG_SPACE(count * sizeof(int))};

	control.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
		.cmsg_len = CMSG_LEN(count * sizeof(int))};
	memcpy(CMSG_DATA(&control.head), fd, count * sizeof(int));
	return sendmsg(to, &m, 0);
}

/* How many came; with room for so many bytes beside the message. */
static int
receive_fds(int from, int fd[MOST], size_t room, int how, int *flags)
{
	struct control control = {{{0}}};
	char text[100];
	struct iovec v = {text, sizeof(text)};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = room};
	size_t count = 0;

	for (int i = 0; i < MOST; i++)
		fd[i] = -1;
	if (recvmsg(from, &m, how) < 0)
		return -1;
	*flags = m.msg_flags & ~MSG_CMSG_CLOEXEC;
	if (m.msg_controllen > 0 && control.head.cmsg_type == SCM_RIGHTS) {
		count = (control.head.cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fd, CMSG_DATA(&control.head), count * sizeof(int));
	}
	return (int)count;
}

static int
is_over(int pipe_end)
{
	struct pollfd p = {.fd = pipe_end, .events = POLLIN};

	return poll(&p, 1, 0) == 1 && (p.revents & POLLHUP) != 0;
}

/* --- what comes --- */

static void
several(int type)
{
	int s[2], p[2], inner[2], fd[MOST], flags, count;
	char text[32] = "";
	struct stat a, b;

	socketpair(AF_UNIX, type, 0, s);
	pipe(p);
	socketpair(AF_UNIX, SOCK_SEQPACKET, 0, inner);
	fd[0] = open("rights.file", O_RDWR | O_CREAT | O_TRUNC, 0600);
	fd[1] = p[1];
	fd[2] = inner[1];
	fd[3] = fd[0];
	write(fd[0], "0123456789", 10);
	lseek(fd[0], 3, SEEK_SET);
	fstat(fd[0], &a);
	expect(send_fds(s[0], fd, 4, "four"), 4, "sendmsg");
	close(fd[0]), close(p[1]), close(inner[1]);
	expect(is_over(p[0]), 0, "on its way it is open");
	count = receive_fds(s[1], fd, sizeof(struct control), MSG_CMSG_CLOEXEC, &flags);
	expect(count, 4, "four descriptors");
	expect(flags, 0, "all of them");
	expect(fcntl(fd[2], F_GETFD), FD_CLOEXEC, "CLOEXEC");
	expect(fstat(fd[0], &b) == 0 && a.st_ino == b.st_ino, 1, "the same file");
	expect(read(fd[3], text, 2), 2, "the same offset");
	expect(memcmp(text, "34", 2), 0, "behind what was moved over");
	expect(lseek(fd[0], 0, SEEK_CUR), 5, "of both");
	expect(write(fd[1], "pipe", 4), 4, "the pipe");
	expect(read(p[0], text, 9), 4, "through it");
	/* messages stay whole, whoever has the socket */
	expect(write(fd[2], "one", 3) + write(fd[2], "two", 3), 6, "the socket");
	expect(read(inner[0], text, 32), 3, "one message");
	expect(read(inner[0], text, 32), 3, "and the other one");
	expect(write(inner[0], "three", 5) + write(inner[0], "four", 4), 9, "the other way");
	expect(read(fd[2], text, 3), 3, "the first three bytes");
	expect(read(fd[2], text, 32), 4, "the rest of them is gone");
	for (int i = 0; i < 4; i++)
		close(fd[i]);
	expect(is_over(p[0]), 1, "it is closed");
	expect(read(inner[0], text, 9), 0, "the socket, too");
	close(p[0]), close(inner[0]), close(s[0]), close(s[1]);
	unlink("rights.file");
}

/* There is room for some, or none: the others are closed. */
static void
short_of_room(size_t room, int want)
{
	int s[2], p[MOST][2], fd[MOST], flags = 0, count, open = 0;

	socketpair(AF_UNIX, SOCK_DGRAM, 0, s);
	for (int i = 0; i < 4; i++) {
		pipe(p[i]);
		fd[i] = p[i][1];
	}
	expect(send_fds(s[0], fd, 4, "x"), 1, "sendmsg");
	for (int i = 0; i < 4; i++)
		close(p[i][1]);
	count = receive_fds(s[1], fd, room, 0, &flags);
	expect(count, want, "as many as there is room for");
	expect((flags & MSG_CTRUNC) != 0, want < 4, "CTRUNC");
	if (count > 0)
		expect(fcntl(fd[0], F_GETFD), 0, "another program has it, too");
	for (int i = 0; i < 4; i++)
		open += !is_over(p[i][0]);
	expect(open, want, "the others are closed");
	for (int i = 0; i < count; i++)
		close(fd[i]);
	for (int i = 0; i < 4; i++) {
		expect(is_over(p[i][0]), 1, "all are");
		close(p[i][0]);
	}
	close(s[0]), close(s[1]);
}

/* --- ends --- */

static int
end_of_child(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

/* Who sends, or who would receive, is killed while a descriptor is on its way. */
static void
killed(int receiver)
{
	int s[2], p[2], hold[2], fd[MOST], flags;
	char c;
	pid_t pid;

	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	pipe(p);
	pipe(hold);
	pid = fork();
	if (pid == 0) {
		if (!receiver)
			send_fds(s[1], &p[1], 1, "x");
		close(s[receiver]), close(p[0]);
		if (receiver)
			close(p[1]);
		write(hold[1], "r", 1);
		pause();
	}
	close(s[!receiver]);
	read(hold[0], &c, 1);
	if (receiver)
		send_fds(s[1], &p[1], 1, "x");
	close(p[1]);
	expect(is_over(p[0]), 0, "on its way it is open");
	kill(pid, SIGKILL);
	expect(end_of_child(pid), SIGKILL, "killed");
	if (receiver) {
		close(s[1]);
	} else {
		expect(receive_fds(s[0], fd, sizeof(struct control), 0, &flags), 1, "it comes");
		expect(write(fd[0], "y", 1), 1, "and can be used");
		expect(read(p[0], &c, 1), 1, "and read");
		close(fd[0]);
	}
	expect(is_over(p[0]), 1, "then it is closed");
	close(p[0]), close(hold[0]), close(hold[1]);
	if (!receiver)
		close(s[0]);
}

/* --- sockets in sockets --- */

/* A socket, and a pipe, lie in the socket's own messages when its last descriptor is closed. */
static void
in_itself(void)
{
	int s[2], p[2], fd[2];

	pipe(p);
	for (int i = 0; i < MANY; i++) {
		expect(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0, "a pair");
		fd[0] = s[0];
		fd[1] = p[1];
		expect(send_fds(s[1], fd, 2, "self"), 4, "to itself");
		close(s[0]), close(s[1]);
	}
	close(p[1]);
	expect(poll(&(struct pollfd){.fd = p[0], .events = POLLIN}, 1, LATE_MS), 1, "it ends");
	expect(is_over(p[0]), 1, "nobody can receive what lies there");
	close(p[0]);
}

/* Two pairs, each in the other's messages; and one that is found again by who has one of them. */
static void
in_circles(void)
{
	int a[2], b[2], fd[MOST], more[MOST], flags;

	for (int i = 0; i < MANY; i++) {
		socketpair(AF_UNIX, SOCK_SEQPACKET, 0, a);
		expect(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, b), 0, "pairs");
		send_fds(a[0], &b[1], 1, "b"), send_fds(b[0], &a[1], 1, "a");
		close(a[1]), close(b[1]);
		if (i % 3 == 0) {
			close(a[0]), close(b[0]);
			continue;
		}
		/* as long as there is somebody who sends to it, it is there, and can be had */
		send_fds(a[0], &a[0], 1, "own");
		close(b[0]);
		expect(write(a[0], "x", 1) == 1 || errno == EPIPE, 1, "it goes, or is lost");
		close(a[0]);
	}
	socketpair(AF_UNIX, SOCK_SEQPACKET, 0, a);
	socketpair(AF_UNIX, SOCK_SEQPACKET, 0, b);
	send_fds(b[0], &a[1], 1, "a"), send_fds(a[0], &b[1], 1, "b");
	close(a[1]);
	expect(receive_fds(b[1], fd, sizeof(struct control), 0, &flags), 1, "from b");
	expect(receive_fds(fd[0], more, sizeof(struct control), 0, &flags), 1, "from a");
	expect(more[0] >= 0 && send(b[0], "hello", 5, 0) == 5, 1, "to b");
	expect(recv(more[0], &flags, 4, 0), 4, "at b");
	close(fd[0]), close(more[0]), close(a[0]), close(b[0]), close(b[1]);
}

/* What was sent to a connection that waits to be accepted comes with it. */
static void
accepted_later(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "rights.name"};
	int l = socket(AF_UNIX, SOCK_STREAM, 0), c = socket(AF_UNIX, SOCK_STREAM, 0), s, pair[2],
		fd[MOST], flags;
	char text[9] = "";

	unlink(at.sun_path);
	expect(bind(l, (struct sockaddr *)&at, sizeof(at)) | listen(l, 3), 0, "listen");
	expect(connect(c, (struct sockaddr *)&at, sizeof(at)), 0, "connect");
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	expect(send_fds(c, &pair[1], 1, "x"), 1, "sendmsg");
	close(pair[1]);
	expect(write(pair[0], "waits", 5), 5, "to what is on its way");
	s = accept(l, NULL, NULL);
	expect(receive_fds(s, fd, sizeof(struct control), 0, &flags), 1, "it comes");
	expect(read(fd[0], text, 9), 5, "with what was sent to it");
	close(fd[0]), close(s), close(pair[0]);
	close(c), close(l);
	unlink(at.sun_path);
}

int
main(void)
{
	int null = open("/dev/null", O_RDONLY);

	dup2(null, 0);
	several(SOCK_STREAM);
	several(SOCK_DGRAM);
	several(SOCK_SEQPACKET);
	short_of_room(sizeof(struct control), 4);
	short_of_room(CMSG_LEN(3 * sizeof(int)), 3);
	short_of_room(CMSG_LEN(sizeof(int)), 1);
	short_of_room(CMSG_LEN(0), 0);
	short_of_room(0, 0);
	killed(0);
	killed(1);
	in_itself();
	in_circles();
	accepted_later();
	return verdict("rights");
}
