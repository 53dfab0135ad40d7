/* SPDX-License-Identifier: MIT
 *
 * Pipes on a machine that has no other: between threads of a rank, of which several wait while
 * others use files; what poll says; what goes wrong says so with the right number.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "check.h"

#define BYTES 60000
#define WAITERS 3

static struct check state;

#define check(condition) CHECK(&state, condition)

static unsigned char
byte_of(int i)
{
	return (unsigned char)(i * 7 + i / 251);
}

/* Pieces of all lengths, also longer than the pipe. */
static void *
write_all(void *end)
{
	static unsigned char text[BYTES];
	int fd = *(int *)end, done = 0, len = 1;

	for (int i = 0; i < BYTES; i++)
		text[i] = byte_of(i);
	while (done < BYTES) {
		len = len * 3 < BYTES - done ? len * 3 : BYTES - done;
		check(write(fd, text + done, (size_t)len) == len);
		done += len;
	}
	check(close(fd) == 0);
	return NULL;
}

static void
stream(void)
{
	unsigned char got[3000];
	int fd[2], done = 0;
	pthread_t writer;
	ssize_t n;

	check(pipe(fd) == 0 && pthread_create(&writer, NULL, write_all, &fd[1]) == 0);
	while ((n = read(fd[0], got, 1 + (size_t)done % sizeof(got))) > 0)
		for (ssize_t i = 0; i < n; i++, done++)
			if (got[i] != byte_of(done)) {
				check(got[i] == byte_of(done));
				return;
			}
	check(n == 0 && done == BYTES && pthread_join(writer, NULL) == 0 && close(fd[0]) == 0);
}

struct waiter {
	pthread_t thread;
	int in[2], out[2];
};

/* Answers each byte with the next one. */
static void *
answer(void *arg)
{
	struct waiter *w = arg;
	char c;

	while (read(w->in[0], &c, 1) == 1) {
		c++;
		check(write(w->out[1], &c, 1) == 1);
	}
	check(close(w->out[1]) == 0);
	return NULL;
}

/* Threads wait in pipes, each in its own, while this one uses files and wakes them in turn. */
static void
waiters(const char *name)
{
	static struct waiter w[WAITERS];
	int fd = open(name, O_RDWR | O_CREAT, 0666);
	char c, got;

	for (int i = 0; i < WAITERS; i++)
		check(pipe(w[i].in) == 0 && pipe(w[i].out) == 0 &&
			pthread_create(&w[i].thread, NULL, answer, &w[i]) == 0);
	for (int round = 0; round < 40; round++) {
		int i = round * 5 % WAITERS;

		c = (char)round;
		check(pwrite(fd, &c, 1, round) == 1 && pread(fd, &got, 1, round) == 1 && got == c);
		check(write(w[i].in[1], &c, 1) == 1 && read(w[i].out[0], &got, 1) == 1 &&
			got == c + 1);
	}
	for (int i = WAITERS - 1; i >= 0; i--)
		check(close(w[i].in[1]) == 0 && read(w[i].out[0], &c, 1) == 0 &&
			pthread_join(w[i].thread, NULL) == 0 && close(w[i].out[0]) == 0 &&
			close(w[i].in[0]) == 0);
	check(close(fd) == 0 && unlink(name) == 0);
}

static void
descriptors(void)
{
	struct stat s;
	char got[8];
	int fd[2], other;
	struct iovec v[2] = {{(char[]){"ab"}, 2}, {(char[]){"cd"}, 2}};

	check(pipe2(fd, O_CLOEXEC) == 0 && fcntl(fd[0], F_GETFD) == FD_CLOEXEC);
	check(fstat(fd[0], &s) == 0 && S_ISFIFO(s.st_mode));
	check(lseek(fd[0], 0, SEEK_CUR) == -1 && errno == ESPIPE &&
		pread(fd[0], got, 1, 0) == -1 && errno == ESPIPE);
	check(read(fd[1], got, 1) == -1 && errno == EBADF && write(fd[0], got, 1) == -1 &&
		errno == EBADF);
	other = dup(fd[1]);
	check(other >= 3 && fcntl(other, F_GETFD) == 0 && fcntl(other, F_SETFD, FD_CLOEXEC) == 0 &&
		fcntl(other, F_GETFD) == FD_CLOEXEC && fcntl(fd[1], F_GETFL) == O_WRONLY);
	check(close(fd[1]) == 0 && writev(other, v, 2) == 4 && read(fd[0], got, 8) == 4 &&
		memcmp(got, "abcd", 4) == 0);
	check(close(other) == 0 && read(fd[0], got, 8) == 0 && close(fd[0]) == 0);
}

static short
polled(int fd, short events, int ms)
{
	struct pollfd p = {.fd = fd, .events = events};

	return poll(&p, 1, ms) >= 0 ? p.revents : -1;
}

static void
readiness(void)
{
	static char text[1000];
	int fd[2], sum = 0, taken = 0;
	ssize_t n;

	check(pipe2(fd, O_NONBLOCK) == 0 && fcntl(fd[0], F_GETFL) == O_NONBLOCK);
	check(read(fd[0], text, 1) == -1 && errno == EAGAIN && polled(fd[0], POLLIN, 0) == 0 &&
		polled(fd[0], POLLIN, 5) == 0 && polled(fd[1], POLLOUT, -1) == POLLOUT);
	while ((n = write(fd[1], text, sizeof(text))) > 0)
		sum += (int)n;
	check(n == -1 && errno == EAGAIN && sum >= 4096 && polled(fd[1], POLLOUT, 0) == 0 &&
		polled(fd[0], POLLIN, -1) == POLLIN);
	while (taken < sum && (n = read(fd[0], text, sizeof(text))) > 0)
		taken += (int)n;
	check(taken == sum && polled(fd[1], POLLOUT, 0) == POLLOUT);
	check(close(fd[1]) == 0 && polled(fd[0], POLLIN, -1) == POLLHUP &&
		read(fd[0], text, 1) == 0 && close(fd[0]) == 0 &&
		polled(fd[0], POLLIN, -1) == POLLNVAL);
	check(pipe(fd) == 0 && signal(SIGPIPE, SIG_IGN) != SIG_ERR && close(fd[0]) == 0 &&
		write(fd[1], text, 1) == -1 && errno == EPIPE && close(fd[1]) == 0);
}

/* A wait in poll ends when another thread writes. */
static void
poll_waits(void)
{
	static struct waiter w;
	struct pollfd p[2];
	char c = 1;

	check(pipe(w.in) == 0 && pipe(w.out) == 0 &&
		pthread_create(&w.thread, NULL, answer, &w) == 0);
	p[0] = (struct pollfd){.fd = w.in[1]};
	p[1] = (struct pollfd){.fd = w.out[0], .events = POLLIN};
	check(write(w.in[1], &c, 1) == 1 && poll(p, 2, -1) == 1 && p[0].revents == 0 &&
		p[1].revents == POLLIN && read(w.out[0], &c, 1) == 1 && c == 2);
	check(close(w.in[1]) == 0 && pthread_join(w.thread, NULL) == 0 && close(w.in[0]) == 0 &&
		close(w.out[0]) == 0);
}

int
main(int argc, char **argv)
{
	char name[32];

	state = check_begin(&argc, &argv);
	snprintf(name, sizeof(name), "/pipes%d", state.rank);
	descriptors();
	readiness();
	stream();
	poll_waits();
	waiters(name);
	return check_end(&state);
}
