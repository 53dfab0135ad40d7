/* SPDX-License-Identifier: MIT
 *
 * What several processes write to one pipe: up to PIPE_BUF bytes are in one piece; and what poll
 * says of its ends. Nothing here knows of Atoll.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unaware.h"

#define WRITERS 3
#define PIECES 12

static char text[PIPE_BUF];

static void
fill(int fd, int who)
{
	memset(text, 'a' + who, sizeof(text));
	for (int i = 0; i < PIECES; i++)
		if (write(fd, text, sizeof(text)) != sizeof(text))
			_exit(1);
	_exit(0);
}

/* Reads as much as there is: each piece is of one writer. */
static void
pieces_are_whole(void)
{
	int fd[2], count[WRITERS] = {0}, at = 0, mixed = 0, status, good = 0;
	char got[10000], now = 0;
	ssize_t n;

	expect(pipe(fd), 0, "pipe");
	for (int i = 0; i < WRITERS; i++)
		if (fork() == 0)
			fill(fd[1], i);
	close(fd[1]);
	while ((n = read(fd[0], got, sizeof(got))) > 0)
		for (ssize_t i = 0; i < n; i++, at++) {
			if (at % PIPE_BUF == 0) {
				now = got[i];
				count[(now - 'a') % WRITERS]++;
			}
			mixed += got[i] != now;
		}
	expect(n, 0, "the end");
	expect(mixed, 0, "bytes of others in a piece");
	for (int i = 0; i < WRITERS; i++) {
		expect(count[i], PIECES, "pieces of a writer");
		wait(&status);
		good += status == 0;
	}
	expect(good, WRITERS, "writers that were content");
	close(fd[0]);
}

/* A read gets all that there is. */
static void
one_read_gets_all(void)
{
	static char got[3 * PIPE_BUF];
	int fd[2];

	pipe(fd);
	memset(text, 'x', sizeof(text));
	expect(write(fd[1], text, sizeof(text)), PIPE_BUF, "write");
	expect(write(fd[1], text, 100), 100, "write");
	expect(read(fd[0], got, sizeof(got)), PIPE_BUF + 100, "read");
	expect(got[PIPE_BUF + 99], 'x', "the last one");
	expect(write(fd[1], text, 3000), 3000, "write");
	expect(read(fd[0], got, 2500), 2500, "read of less");
	expect(read(fd[0], got, 2500), 500, "read of the rest");
	close(fd[0]);
	close(fd[1]);
}

/* Without room for a piece nothing of it is written; where poll sees room there is some for one. */
static void
a_piece_or_nothing(void)
{
	struct pollfd p = {.events = POLLOUT};
	static char got[PIPE_BUF];
	int fd[2];

	pipe2(fd, O_NONBLOCK);
	p.fd = fd[1];
	while (write(fd[1], text, PIPE_BUF) == PIPE_BUF)
		continue;
	expect(errno, EAGAIN, "a full pipe");
	expect(poll(&p, 1, 0), 0, "poll of a full one");
	for (int i = 0; i < 2 && poll(&p, 1, 0) == 0; i++)
		expect(read(fd[0], got, PIPE_BUF), PIPE_BUF, "read");
	expect(p.revents, POLLOUT, "room");
	expect(write(fd[1], text, PIPE_BUF), PIPE_BUF, "write");
	close(fd[0]);
	close(fd[1]);
}

static void
poll_says(int fd, short events, short want, const char *what)
{
	struct pollfd p = {fd, events, 0};

	poll(&p, 1, 0);
	expect(p.revents, want, what);
}

static void
ends_are_seen(void)
{
	struct timeval none = {0, 0};
	fd_set set;
	int fd[2];
	char c;

	pipe(fd);
	poll_says(fd[0], POLLIN, 0, "empty");
	poll_says(fd[1], POLLIN | POLLOUT, POLLOUT, "to be written");
	expect(write(fd[1], "a", 1), 1, "write");
	poll_says(fd[0], POLLIN, POLLIN, "with a byte");
	poll_says(fd[0], 0, 0, "not asked");
	close(fd[1]);
	poll_says(fd[0], POLLIN, POLLIN | POLLHUP, "with a byte, no writer");
	expect(read(fd[0], &c, 1), 1, "read");
	poll_says(fd[0], POLLIN, POLLHUP, "at its end");
	poll_says(fd[0], 0, POLLHUP, "at its end, not asked");
	FD_ZERO(&set);
	FD_SET(fd[0], &set);
	expect(select(fd[0] + 1, &set, NULL, NULL, &none), 1, "select at its end");
	expect(FD_ISSET(fd[0], &set) != 0, 1, "can be read");
	expect(read(fd[0], &c, 1), 0, "the end");
	close(fd[0]);
	pipe(fd);
	close(fd[0]);
	poll_says(fd[1], POLLOUT, POLLOUT | POLLERR, "no reader");
	poll_says(fd[1], 0, POLLERR, "no reader, not asked");
	signal(SIGPIPE, SIG_IGN);
	expect(write(fd[1], "a", 1), -1, "write to nobody");
	expect(errno, EPIPE, "write to nobody");
	close(fd[1]);
}

/* A writer that is killed while it waits for room leaves whole pieces. */
static void
a_writer_is_killed(void)
{
	static char got[PIPE_BUF];
	int fd[2], status;
	ssize_t n, sum = 0;
	pid_t pid;

	pipe(fd);
	pid = fork();
	if (pid == 0) {
		while (write(fd[1], text, sizeof(text)) > 0)
			continue;
		_exit(0);
	}
	close(fd[1]);
	expect(read(fd[0], got, 1000), 1000, "the first bytes");
	kill(pid, SIGKILL);
	expect(waitpid(pid, &status, 0), pid, "wait");
	expect(WTERMSIG(status), SIGKILL, "killed");
	while ((n = read(fd[0], got, sizeof(got))) > 0)
		sum += n;
	expect((sum + 1000) % PIPE_BUF, 0, "whole pieces");
	close(fd[0]);
}

int
main(void)
{
	pieces_are_whole();
	one_read_gets_all();
	a_piece_or_nothing();
	ends_are_seen();
	a_writer_is_killed();
	return verdict("pieces");
}
