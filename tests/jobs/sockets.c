/* SPDX-License-Identifier: MIT
 *
 * Sockets of the family AF_UNIX: streams, datagrams, packets; names; what is said of them, what is
 * wrong, and what remains of a peer that is gone. Nothing here knows of Atoll.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unaware.h"

#define NAME "sockets.name"
#define OTHER "sockets.other"
#define BIG 200000

static struct sockaddr_un address;
static socklen_t address_bytes;

static struct sockaddr *
named(const char *name)
{
	address = (struct sockaddr_un){.sun_family = AF_UNIX};
	strcpy(address.sun_path, name);
	address_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name) + 1);
	return (struct sockaddr *)&address;
}

static struct sockaddr *
abstract(const char *name)
{
	char full[40];

	snprintf(full, sizeof(full), "%d-%s", getpid(), name);
	address = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(address.sun_path + 1, full, strlen(full));
	address_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(full));
	return (struct sockaddr *)&address;
}

static void
fails(long result, int error, const char *what)
{
	expect(result == -1 ? errno : -1, error, what);
}

static short
polled(int fd, short events)
{
	struct pollfd p = {fd, events, 0};

	poll(&p, 1, 0);
	return p.revents;
}

static int
end_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

static unsigned char
byte_of(int i)
{
	return (unsigned char)(i * 7 + i / 251);
}

/* --- pairs --- */

static void
pairs(int type, const char *what)
{
	char got[32];
	int s[2];

	expect(socketpair(AF_UNIX, type, 0, s), 0, what);
	expect(write(s[0], "abc", 3), 3, "write");
	expect(write(s[0], "defgh", 5), 5, "write");
	expect(read(s[1], got, 2), 2, "read of less");
	expect(read(s[1], got, sizeof(got)), type == SOCK_STREAM ? 6 : 5, "read");
	expect(got[0], type == SOCK_STREAM ? 'c' : 'd', "its first");
	expect(send(s[1], "x", 1, 0), 1, "back");
	expect(recv(s[0], got, 9, MSG_PEEK), 1, "peek");
	expect(recv(s[0], got, 9, 0), 1, "recv");
	fails(recv(s[0], got, 9, MSG_DONTWAIT), EAGAIN, "nothing");
	expect(polled(s[0], POLLIN | POLLOUT), POLLOUT, "poll of nothing");
	write(s[1], "y", 1);
	expect(polled(s[0], POLLIN | POLLOUT), POLLIN | POLLOUT, "poll of something");
	close(s[1]);
	expect(polled(s[0], POLLIN | POLLOUT), type == SOCK_DGRAM ? POLLIN | POLLOUT :
		POLLIN | POLLOUT | POLLHUP, "poll of one whose peer is gone");
	expect(read(s[0], got, 9), 1, "what was left");
	if (type != SOCK_DGRAM)
		expect(read(s[0], got, 9), 0, "the end");
	fails(send(s[0], "z", 1, MSG_NOSIGNAL), type == SOCK_DGRAM ? ECONNREFUSED : EPIPE,
		"to nobody");
	if (type == SOCK_DGRAM)
		fails(send(s[0], "z", 1, 0), ENOTCONN, "to nobody, again");
	close(s[0]);
}

static void
unread_is_lost(void)
{
	char c;
	int s[2];

	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	write(s[0], "abc", 3);
	close(s[1]);
	expect(polled(s[0], POLLIN), POLLIN | POLLERR | POLLHUP, "poll after a reset");
	fails(read(s[0], &c, 1), ECONNRESET, "reset");
	expect(read(s[0], &c, 1), 0, "once");
	close(s[0]);
}

static void
shutdowns(void)
{
	char c;
	int s[2];

	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	write(s[0], "a", 1);
	expect(shutdown(s[0], SHUT_WR), 0, "shutdown");
	expect(polled(s[1], POLLIN | POLLRDHUP), POLLIN | POLLRDHUP, "half of it");
	expect(read(s[1], &c, 1), 1, "what was sent before");
	expect(read(s[1], &c, 1), 0, "the end");
	fails(send(s[0], "b", 1, MSG_NOSIGNAL), EPIPE, "after shutdown");
	expect(send(s[1], "c", 1, 0), 1, "the other way");
	expect(read(s[0], &c, 1), 1, "the other way");
	expect(shutdown(s[1], SHUT_WR), 0, "the other half");
	expect(polled(s[0], POLLIN), POLLIN | POLLHUP, "both halves");
	fails(shutdown(s[0], 3), EINVAL, "how");
	close(s[0]), close(s[1]);
}

static volatile sig_atomic_t signals;

static void
count(int sig)
{
	signals += sig == SIGPIPE;
}

static void
broken(void)
{
	int s[2];

	signal(SIGPIPE, count);
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	close(s[1]);
	fails(write(s[0], "a", 1), EPIPE, "write");
	expect(signals, 1, "SIGPIPE of write");
	fails(send(s[0], "a", 1, 0), EPIPE, "send");
	expect(signals, 2, "SIGPIPE of send");
	fails(send(s[0], "a", 1, MSG_NOSIGNAL), EPIPE, "send, quietly");
	expect(signals, 2, "no signal");
	close(s[0]);
	socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s);
	close(s[1]);
	fails(write(s[0], "a", 1), EPIPE, "write of a packet");
	expect(signals, 2, "no signal of packets");
	close(s[0]);
	signal(SIGPIPE, SIG_DFL);
}

/* More than there is room for, from a child. */
static void
much(int type, int piece)
{
	static unsigned char text[BIG];
	int s[2], at = 0, wrong = 0;
	ssize_t n;
	pid_t pid;

	socketpair(AF_UNIX, type, 0, s);
	pid = fork();
	if (pid == 0) {
		close(s[0]);
		for (int i = 0; i < BIG; i++)
			text[i] = byte_of(i);
		for (int i = 0; i < BIG; i += piece)
			if (write(s[1], text + i, (size_t)(BIG - i < piece ? BIG - i : piece)) <= 0)
				_exit(1);
		_exit(0);
	}
	close(s[1]);
	while ((n = read(s[0], text, type == SOCK_STREAM ? 7777 : BIG)) > 0) {
		wrong += type != SOCK_STREAM && n != piece && at + n != BIG;
		for (ssize_t i = 0; i < n; i++, at++)
			wrong += text[i] != byte_of(at);
	}
	expect(at, BIG, "all bytes");
	expect(wrong, 0, "in their order");
	expect(end_of(pid), 0, "who sent them");
	close(s[0]);
}

/* --- connections --- */

static void
client_of_stream(void)
{
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	char got[64];
	ssize_t n;

	expect(connect(s, named(NAME), address_bytes), 0, "connect");
	fails(connect(s, named(NAME), address_bytes), EISCONN, "connect again");
	expect(write(s, "question", 8), 8, "write");
	expect(shutdown(s, SHUT_WR), 0, "shutdown");
	n = read(s, got, sizeof(got));
	expect(n, 6, "answer");
	expect(memcmp(got, "answer", 6), 0, "answer");
	expect(read(s, got, 1), 0, "its end");
	exit(failures != 0);
}

static void
streams(void)
{
	int l = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), s, value = -1;
	struct sockaddr_un name;
	socklen_t bytes;
	struct ucred who;
	struct stat st;
	char got[64] = "";
	pid_t pid;

	fails(listen(l, 5), EINVAL, "listen before bind");
	fails(connect(l, named("nothing"), address_bytes), ENOENT, "no such name");
	expect(polled(l, POLLIN | POLLOUT), POLLOUT | POLLHUP, "poll of a new one");
	expect(bind(l, named(NAME), address_bytes), 0, "bind");
	expect(stat(NAME, &st) == 0 && S_ISSOCK(st.st_mode), 1, "a socket in the tree");
	fails(open(NAME, O_RDONLY), ENXIO, "open");
	s = socket(AF_UNIX, SOCK_STREAM, 0);
	fails(connect(s, named(NAME), address_bytes), ECONNREFUSED, "nobody listens");
	fails(bind(s, named(NAME), address_bytes), EADDRINUSE, "bind again");
	fails(bind(l, named(OTHER), address_bytes), EINVAL, "a second name");
	fails(accept(l, NULL, NULL), EINVAL, "accept before listen");
	expect(listen(l, 5), 0, "listen");
	fails(connect(l, named(NAME), address_bytes), EINVAL, "who listens connects");
	expect(getsockopt(l, SOL_SOCKET, SO_ACCEPTCONN, &value, &(socklen_t){4}), 0, "ACCEPTCONN");
	expect(value, 1, "ACCEPTCONN");
	expect(polled(l, POLLIN | POLLOUT), 0, "poll of who listens");
	fcntl(l, F_SETFL, O_NONBLOCK);
	fails(accept(l, NULL, NULL), EAGAIN, "nobody has come");
	fcntl(l, F_SETFL, 0);
	close(s);
	for (int i = 0; i < 3; i++) {
		pid = fork();
		if (pid == 0)
			client_of_stream();
		bytes = sizeof(name);
		memset(&name, 'x', sizeof(name));
		s = accept4(l, (struct sockaddr *)&name, &bytes, SOCK_CLOEXEC);
		expect(s >= 0, 1, "accept");
		expect(bytes == 2 && name.sun_family == AF_UNIX, 1, "who has no name");
		expect(fcntl(s, F_GETFD), FD_CLOEXEC, "CLOEXEC");
		bytes = sizeof(who);
		expect(getsockopt(s, SOL_SOCKET, SO_PEERCRED, &who, &bytes), 0, "PEERCRED");
		expect(who.pid == pid, 1, "whose it is");
		expect(recv(s, got, 8, MSG_WAITALL), 8, "question");
		expect(memcmp(got, "question", 8), 0, "question");
		expect(read(s, got, 1), 0, "its end");
		expect(write(s, "answer", 6), 6, "write");
		bytes = sizeof(name);
		expect(getsockname(s, (struct sockaddr *)&name, &bytes), 0, "getsockname");
		expect(bytes == 2 + sizeof(NAME) && strcmp(name.sun_path, NAME) == 0, 1, "name");
		close(s);
		expect(end_of(pid), 0, "client");
	}
	close(l);
	s = socket(AF_UNIX, SOCK_STREAM, 0);
	fails(connect(s, named(NAME), address_bytes), ECONNREFUSED, "who listened is gone");
	close(s);
	expect(unlink(NAME), 0, "unlink");
}

/* Who waits to be accepted, and who listens, is killed or closes. */
static void
deaths(void)
{
	int l = socket(AF_UNIX, SOCK_STREAM, 0), s[4], n = 0;
	char c;
	pid_t pid;

	bind(l, abstract("deaths"), address_bytes);
	listen(l, 2);
	pid = fork();
	if (pid == 0) {
		s[0] = socket(AF_UNIX, SOCK_STREAM, 0);
		connect(s[0], (struct sockaddr *)&address, address_bytes);
		write(s[0], "last words", 10);
		kill(getpid(), SIGKILL);
	}
	expect(WTERMSIG(end_of(pid)), SIGKILL, "killed");
	s[0] = accept(l, NULL, NULL);
	expect(s[0] >= 0, 1, "accept of who is dead");
	expect(read(s[0], &c, 1), 1, "what it said");
	close(s[0]);
	/* more than may wait */
	for (n = 0; n < 4; n++) {
		s[n] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (connect(s[n], (struct sockaddr *)&address, address_bytes) != 0)
			break;
	}
	expect(n, 3, "that wait");
	expect(errno, EAGAIN, "one more");
	expect(write(s[0], "a", 1), 1, "write before accept");
	close(l);
	fails(read(s[0], &c, 1), ECONNRESET, "who was not accepted");
	expect(read(s[1], &c, 1) == -1 && errno == ECONNRESET, 1, "the second");
	fails(send(s[1], "a", 1, MSG_NOSIGNAL), EPIPE, "send");
	for (int i = 0; i <= n && i < 4; i++)
		close(s[i]);
}

/* A reader is killed while one waits for room. */
static void
reader_dies(void)
{
	int s[2];
	pid_t pid;

	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	pid = fork();
	if (pid == 0) {
		close(s[0]);
		pause();
	}
	close(s[1]);
	signal(SIGPIPE, SIG_IGN);
	fcntl(s[0], F_SETFL, O_NONBLOCK);
	while (write(s[0], address.sun_path, sizeof(address.sun_path)) > 0)
		continue;
	expect(errno, EAGAIN, "full");
	fcntl(s[0], F_SETFL, 0);
	if (fork() == 0) {
		usleep(30000);
		kill(pid, SIGKILL);
		_exit(0);
	}
	while (write(s[0], address.sun_path, sizeof(address.sun_path)) > 0)
		continue;
	expect(errno == EPIPE || errno == ECONNRESET, 1, "the reader was killed");
	signal(SIGPIPE, SIG_DFL);
	while (wait(NULL) > 0)
		continue;
	close(s[0]);
}

/* --- datagrams --- */

static void
datagrams(void)
{
	int a = socket(AF_UNIX, SOCK_DGRAM, 0), b = socket(AF_UNIX, SOCK_DGRAM, 0), c;
	struct sockaddr_un from;
	socklen_t bytes = sizeof(from);
	char got[10000], big[10000];
	struct iovec v[2] = {{got, 3}, {got + 100, 50}};
	struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};

	expect(bind(a, named(NAME), address_bytes), 0, "bind");
	fails(send(b, "x", 1, 0), ENOTCONN, "to nobody");
	expect(sendto(b, "hello", 5, 0, named(NAME), address_bytes), 5, "sendto");
	expect(recvfrom(a, got, 99, 0, (struct sockaddr *)&from, &bytes), 5, "recvfrom");
	expect(bytes, 0, "who has no name");
	expect(bind(b, named(OTHER), address_bytes), 0, "bind");
	expect(sendto(b, "", 0, 0, named(NAME), address_bytes), 0, "sendto of nothing");
	expect(sendto(b, "named", 5, 0, named(NAME), address_bytes), 5, "sendto");
	bytes = sizeof(from);
	expect(recvfrom(a, got, 99, 0, (struct sockaddr *)&from, &bytes), 0, "nothing came");
	expect(bytes == 2 + sizeof(OTHER) && strcmp(from.sun_path, OTHER) == 0, 1, "from whom");
	expect(recv(a, got, 2, MSG_TRUNC), 5, "its length");
	fails(recv(a, got, 2, MSG_DONTWAIT), EAGAIN, "the rest is gone");
	memset(big, 'b', sizeof(big));
	expect(sendto(b, big, sizeof(big), 0, named(NAME), address_bytes), sizeof(big),
		"a long one");
	expect(recv(a, got, sizeof(got), 0), sizeof(big), "a long one");
	expect(memcmp(got, big, sizeof(big)), 0, "a long one");
	expect(connect(b, named(NAME), address_bytes), 0, "connect");
	expect(writev(b, (struct iovec[]){{"ab", 2}, {"cdef", 4}}, 2), 6, "writev");
	expect(recvmsg(a, &m, 0), 6, "recvmsg");
	expect(memcmp(got, "abc", 3) == 0 && memcmp(got + 100, "def", 3) == 0, 1, "pieces");
	expect(m.msg_flags, 0, "flags");
	send(b, "0123456789", 10, 0);
	v[1].iov_len = 4;
	expect(recvmsg(a, &m, 0), 7, "recvmsg with less room");
	expect(m.msg_flags, MSG_TRUNC, "flags of a message that was cut");
	c = socket(AF_UNIX, SOCK_DGRAM, 0);
	fails(sendto(c, "x", 1, 0, named(OTHER), address_bytes), EPERM, "to who hears one only");
	fails(sendto(c, "x", 1, 0, named("nothing"), address_bytes), ENOENT, "to no name");
	expect(connect(b, &(struct sockaddr){.sa_family = AF_UNSPEC}, 2), 0, "disconnect");
	expect(sendto(c, "x", 1, 0, named(OTHER), address_bytes), 1, "now it hears all");
	expect(recv(b, got, 9, 0), 1, "it does");
	expect(connect(c, named(NAME), address_bytes), 0, "connect");
	close(a);
	fails(send(c, "x", 1, 0), ECONNREFUSED, "it is gone");
	fails(sendto(c, "x", 1, 0, named(NAME), address_bytes), ECONNREFUSED, "its name is left");
	fails(listen(c, 1), EOPNOTSUPP, "listen");
	close(b), close(c);
	unlink(NAME), unlink(OTHER);
}

static void
packets(void)
{
	int l = socket(AF_UNIX, SOCK_SEQPACKET, 0), c = socket(AF_UNIX, SOCK_SEQPACKET, 0), s;
	char got[100];

	bind(l, abstract("packets"), address_bytes);
	listen(l, 1);
	fails(send(c, "x", 1, 0), ENOTCONN, "send before connect");
	fails(recv(c, got, 1, 0), ENOTCONN, "recv before connect");
	s = socket(AF_UNIX, SOCK_STREAM, 0);
	fails(connect(s, (struct sockaddr *)&address, address_bytes), ECONNREFUSED,
		"of another kind");
	fails(recv(s, got, 1, 0), EINVAL, "recv of a stream before connect");
	fails(send(s, got, 1, 0), ENOTCONN, "send of a stream before connect");
	close(s);
	expect(connect(c, (struct sockaddr *)&address, address_bytes), 0, "connect");
	s = accept(l, NULL, NULL);
	send(c, "one", 3, 0), send(c, "three", 5, 0);
	expect(recv(s, got, 100, 0), 3, "the first");
	expect(recv(s, got, 100, 0), 5, "the second");
	close(c);
	expect(recv(s, got, 100, 0), 0, "the end");
	close(s), close(l);
}

/* --- descriptors that come with messages --- */

static ssize_t
send_with(int to, int fd, const char *text)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec v = {(void *)(uintptr_t)text, strlen(text)};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control)};
	struct cmsghdr *k = CMSG_FIRSTHDR(&m);

	k->cmsg_level = SOL_SOCKET;
	k->cmsg_type = SCM_RIGHTS;
	k->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(k), &fd, sizeof(int));
	return sendmsg(to, &m, 0);
}

static int
receive_with(int from, char *text, size_t room, int *flags)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec v = {text, room};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control)};
	int fd = -1;
	ssize_t n = recvmsg(from, &m, MSG_CMSG_CLOEXEC);

	text[n > 0 ? n : 0] = 0;
	*flags = m.msg_flags & ~MSG_CMSG_CLOEXEC;
	if (m.msg_controllen > 0 && CMSG_FIRSTHDR(&m)->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
	return fd;
}

static void
rights(void)
{
	int s[2], p[2], fd, flags;
	char text[32];
	pid_t pid;

	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	pid = fork();
	if (pid == 0) {
		failures = 0;
		pipe(p);
		write(p[1], "through the pipe", 16);
		write(s[1], "before", 6);
		expect(send_with(s[1], p[0], "with"), 4, "sendmsg");
		write(s[1], "behind", 6);
		_exit(failures != 0);
	}
	expect(end_of(pid), 0, "who sent and ended");
	close(s[1]);
	fd = receive_with(s[0], text, 31, &flags);
	expect(strcmp(text, "beforewith"), 0, "what came with it, and before");
	expect(fd >= 0, 1, "a descriptor");
	expect(receive_with(s[0], text, 31, &flags), -1, "no other one");
	expect(strcmp(text, "behind"), 0, "what came behind it");
	expect(fcntl(fd, F_GETFD), FD_CLOEXEC, "CLOEXEC");
	expect(read(fd, text, 31), 16, "through it");
	expect(read(fd, text, 31), 0, "its end");
	close(fd), close(s[0]);
	/* nobody receives it: it is closed with the message */
	socketpair(AF_UNIX, SOCK_DGRAM, 0, s);
	pipe(p);
	expect(send_with(s[1], p[1], "lost"), 4, "sendmsg");
	close(p[1]);
	expect(polled(p[0], POLLIN), 0, "on its way");
	expect(read(s[0], text, 9), 4, "read without it");
	expect(polled(p[0], POLLIN), POLLHUP, "it is closed");
	fails(send_with(s[1], 99, "x"), EBADF, "no descriptor");
	close(p[0]), close(s[0]), close(s[1]);
}

/* --- who has sent a message --- */

/* The pid of who has sent what is received, 0: nobody is told; -1: the rest of it is wrong. */
static pid_t
receive_from(int from, char *text, size_t room, size_t control_room, int *flags)
{
	union {
		char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec v = {text, room};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = control_room};
	ssize_t n = recvmsg(from, &m, 0);
	struct cmsghdr *k = CMSG_FIRSTHDR(&m);
	struct ucred who;
	int fd;

	text[n > 0 ? n : 0] = 0;
	*flags = m.msg_flags;
	if (m.msg_controllen == 0)
		return 0;
	memcpy(&who, CMSG_DATA(k), sizeof(who));
	if (k->cmsg_type != SCM_CREDENTIALS || k->cmsg_len != CMSG_LEN(sizeof(who)) ||
		who.uid != getuid() || who.gid != getgid())
		return -1;
	if (m.msg_controllen >= CMSG_SPACE(sizeof(who)) + CMSG_LEN(sizeof(fd))) {
		k = (struct cmsghdr *)(void *)(control.bytes + CMSG_SPACE(sizeof(who)));
		if (k->cmsg_type != SCM_RIGHTS)
			return -1;
		memcpy(&fd, CMSG_DATA(k), sizeof(fd));
		*flags = fd >= 0 && close(fd) == 0 ? -1 : -2;
	}
	return who.pid;
}

#define ROOM (CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int)))

static ssize_t
send_as(int to, pid_t pid, const char *text)
{
	union {
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec v = {(void *)(uintptr_t)text, strlen(text)};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control)};
	struct cmsghdr *k = CMSG_FIRSTHDR(&m);
	struct ucred who = {pid, getuid(), getgid()};

	k->cmsg_level = SOL_SOCKET;
	k->cmsg_type = SCM_CREDENTIALS;
	k->cmsg_len = CMSG_LEN(sizeof(who));
	memcpy(CMSG_DATA(k), &who, sizeof(who));
	return sendmsg(to, &m, 0);
}

static void
senders(int type)
{
	int s[2], p[2], flags, on = 1, value = -1;
	socklen_t bytes = sizeof(value);
	char text[32];
	pid_t pid;

	socketpair(AF_UNIX, type, 0, s);
	expect(getsockopt(s[0], SOL_SOCKET, SO_PASSCRED, &value, &bytes), 0, "PASSCRED");
	expect(value, 0, "not at first");
	expect(setsockopt(s[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)), 0, "PASSCRED");
	expect(getsockopt(s[0], SOL_SOCKET, SO_PASSCRED, &value, &bytes), 0, "PASSCRED");
	expect(value, 1, "from now on");
	expect(send(s[1], "own", 3, 0), 3, "send");
	pid = fork();
	if (pid == 0) {
		failures = 0;
		expect(send(s[1], "child's", 7, 0), 7, "send");
		expect(send_as(s[1], getpid(), " said"), 5, "who it is");
		pipe(p);
		expect(send_with(s[1], p[0], "with"), 4, "a descriptor, too");
		_exit(failures != 0);
	}
	expect(end_of(pid), 0, "who sent and ended");
	expect(receive_from(s[0], text, 31, ROOM, &flags), getpid(), "own");
	expect(strcmp(text, "own"), 0, "and no other's");
	expect(receive_from(s[0], text, 7, ROOM, &flags), pid, "the child's");
	expect(strcmp(text, "child's"), 0, "the child's");
	expect(receive_from(s[0], text, 5, ROOM, &flags), pid, "as it says");
	expect(receive_from(s[0], text, 31, ROOM, &flags), pid, "with a descriptor");
	expect(flags, -1, "which comes behind");
	expect(send(s[1], "x", 1, 0), 1, "send");
	expect(receive_from(s[0], text, 31, CMSG_LEN(4), &flags) != getpid(), 1, "no room");
	expect((flags & MSG_CTRUNC) != 0, 1, "is said");
	value = 0;
	expect(setsockopt(s[0], SOL_SOCKET, SO_PASSCRED, &value, sizeof(value)), 0, "PASSCRED");
	expect(send_as(s[1], getpid(), "said"), 4, "send");
	expect(receive_from(s[0], text, 31, ROOM, &flags), 0, "nobody is told");
	close(s[0]), close(s[1]);
}

static void
options(void)
{
	int s[2], value = 0;
	socklen_t bytes = sizeof(value);
	struct sockaddr_un name;

	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	expect(getsockopt(s[0], SOL_SOCKET, SO_TYPE, &value, &bytes), 0, "TYPE");
	expect(value, SOCK_STREAM, "TYPE");
	expect(getsockopt(s[0], SOL_SOCKET, SO_ERROR, &value, &bytes), 0, "ERROR");
	expect(value, 0, "ERROR");
	expect(getsockopt(s[0], SOL_SOCKET, SO_DOMAIN, &value, &bytes), 0, "DOMAIN");
	expect(value, AF_UNIX, "DOMAIN");
	fails(getsockopt(s[0], SOL_SOCKET, 999, &value, &bytes), ENOPROTOOPT, "no option");
	fails(getsockopt(s[0], 99, 1, &value, &bytes), EOPNOTSUPP, "no level");
	value = 8192;
	expect(setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &value, sizeof(value)), 0, "SNDBUF");
	fails(setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &value, 2), EINVAL, "a short one");
	bytes = sizeof(name);
	expect(getpeername(s[0], (struct sockaddr *)&name, &bytes), 0, "getpeername");
	expect(bytes, 2, "getpeername");
	close(s[0]), close(s[1]);
	s[0] = socket(AF_UNIX, SOCK_DGRAM, 0);
	fails(getpeername(s[0], (struct sockaddr *)&name, &bytes), ENOTCONN, "getpeername");
	expect(bind(s[0], named(""), 2), 0, "any name");
	bytes = sizeof(name);
	expect(getsockname(s[0], (struct sockaddr *)&name, &bytes), 0, "getsockname");
	expect(bytes == 8 && name.sun_path[0] == 0, 1, "a name that nobody gave");
	close(s[0]);
	fails(socket(AF_UNIX, 9, 0), ESOCKTNOSUPPORT, "a type");
	fails(socket(AF_UNIX, SOCK_STREAM, 7), EPROTONOSUPPORT, "a protocol");
	fails(socket(45, SOCK_STREAM, 0), EAFNOSUPPORT, "a family");
	fails(socket(99, SOCK_STREAM, 0), EAFNOSUPPORT, "no family");
	fails(socket(AF_UNIX, SOCK_STREAM | 0x100000, 0), EINVAL, "a flag");
	fails(bind(0, named(NAME), address_bytes), ENOTSOCK, "no socket");
	fails(connect(99, named(NAME), address_bytes), EBADF, "no descriptor");
	fails(lseek(socket(AF_UNIX, SOCK_STREAM, 0), 0, SEEK_CUR), ESPIPE, "lseek");
}

/* Calls that wait no longer than they are told. */
static void
times(void)
{
	struct timeval none = {0, 0}, some = {0, 100000}, wrong = {0, 1000000}, have = {7, 7};
	socklen_t bytes = sizeof(have);
	char text[4096] = "";
	int s[2], listens = socket(AF_UNIX, SOCK_STREAM, 0);
	ssize_t n;

	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	expect(getsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &have, &bytes), 0, "RCVTIMEO");
	expect(have.tv_sec == 0 && have.tv_usec == 0, 1, "for ever");
	expect(setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &some, sizeof(some)), 0, "RCVTIMEO");
	expect(getsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &have, &bytes), 0, "RCVTIMEO");
	expect(have.tv_sec == 0 && have.tv_usec == 100000, 1, "its value");
	fails(setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &wrong, sizeof(wrong)), EDOM, "no time");
	fails(read(s[0], text, 1), EAGAIN, "read");
	fails(recv(s[0], text, 1, 0), EAGAIN, "recv");
	expect(write(s[1], "ab", 2), 2, "write");
	expect(recv(s[0], text, 3, MSG_WAITALL), 2, "a part");
	expect(setsockopt(s[0], SOL_SOCKET, SO_SNDTIMEO, &some, sizeof(some)), 0, "SNDTIMEO");
	while ((n = write(s[0], text, sizeof(text))) > 0)
		continue;
	fails(n, EAGAIN, "what has no room");
	fails(send(s[0], text, 1, 0) == 1 ? send(s[0], text, sizeof(text), 0) : -1, EAGAIN, "send");
	expect(setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &none, sizeof(none)), 0, "for ever");
	expect(write(s[1], "c", 1), 1, "write");
	expect(read(s[0], text, 9), 1, "read");
	expect(bind(listens, named(NAME), address_bytes) | listen(listens, 1), 0, "listen");
	expect(setsockopt(listens, SOL_SOCKET, SO_RCVTIMEO, &some, sizeof(some)), 0, "RCVTIMEO");
	fails(accept(listens, NULL, NULL), EAGAIN, "accept");
	close(s[0]), close(s[1]), close(listens);
	unlink(NAME);
}

int
main(void)
{
	int null = open("/dev/null", O_RDONLY);

	dup2(null, 0);
	unlink(NAME), unlink(OTHER);
	pairs(SOCK_STREAM, "streams");
	pairs(SOCK_DGRAM, "datagrams");
	pairs(SOCK_SEQPACKET, "packets");
	unread_is_lost();
	shutdowns();
	broken();
	much(SOCK_STREAM, 50000);
	much(SOCK_STREAM, 777);
	much(SOCK_SEQPACKET, 9000);
	streams();
	deaths();
	reader_dies();
	datagrams();
	packets();
	rights();
	senders(SOCK_STREAM);
	senders(SOCK_DGRAM);
	senders(SOCK_SEQPACKET);
	options();
	times();
	return verdict("sockets");
}
