/* SPDX-License-Identifier: MIT
 *
 * Descriptors of events: eventfd, timerfd, signalfd and epoll, with poll and select, over fork,
 * exec and in messages. The same here and on Linux.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "unaware.h"

#define MS 1000000L
#define FOR_EVER (-1)

static int
polled(int fd, short events, int wait)
{
	struct pollfd p = {.fd = fd, .events = events};

	return poll(&p, 1, wait) == 1 ? p.revents : 0;
}

static uint64_t
taken(int fd)
{
	uint64_t n = 0;

	return read(fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

static bool
added(int fd, uint64_t n)
{
	return write(fd, &n, sizeof(n)) == sizeof(n);
}

static void
child_ends(void)
{
	int status = -1;

	expect(wait(&status) > 0, 1, "a child");
	expect(status, 0, "which ends well");
}

/* --- counts --- */

static void *
adder(void *fd)
{
	poll(NULL, 0, 20);
	expect(added(*(int *)fd, 7), 1, "a thread adds");
	return NULL;
}

static void
counts(void)
{
	int fd = eventfd(3, EFD_CLOEXEC), sem = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK);
	char small[4];
	pthread_t t;

	expect(fd >= 0 && sem >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC, 1, "eventfd");
	expect(polled(fd, POLLIN | POLLOUT, 0), POLLIN | POLLOUT, "to be read and written");
	expect((long)taken(fd), 3, "its count");
	expect(polled(fd, POLLIN | POLLOUT, 0), POLLOUT, "is 0 then");
	expect(added(fd, 5) && added(fd, 6), 1, "added");
	expect((long)taken(fd), 11, "the sum");
	expect(read(fd, small, sizeof(small)), -1, "too few bytes");
	expect(errno, EINVAL, "is wrong");
	expect(added(fd, UINT64_MAX), 0, "too much");
	expect(errno, EINVAL, "is wrong");
	expect((long)taken(sem) + (long)taken(sem), 2, "one by one");
	expect((long)taken(sem), 0, "and no more");
	expect(errno, EAGAIN, "which is said");
	expect(added(sem, UINT64_MAX - 1), 1, "all that it can have");
	expect(polled(sem, POLLIN | POLLOUT, 0), POLLIN, "it is full");
	expect(added(sem, 1), 0, "no more");
	expect(errno, EAGAIN, "is said, too");
	expect(pthread_create(&t, NULL, adder, &fd), 0, "pthread_create");
	expect((long)taken(fd), 7, "a read waits");
	pthread_join(t, NULL);
	if (fork() == 0)
		_exit(!added(fd, 9));
	expect(polled(fd, POLLIN, FOR_EVER), POLLIN, "poll waits for a child");
	expect((long)taken(fd), 9, "which has the same count");
	child_ends();
	close(fd);
	close(sem);
}

/* --- timers --- */

static bool
set(int fd, int flags, long first_ms, long period_ms)
{
	struct itimerspec t = {{period_ms / 1000, period_ms % 1000 * MS},
		{first_ms / 1000, first_ms % 1000 * MS}};

	return timerfd_settime(fd, flags, &t, NULL) == 0;
}

static void
timers(void)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), slow;
	struct itimerspec now;
	struct timespec clock;
	fd_set in;

	expect(fd >= 0, 1, "timerfd_create");
	expect((long)taken(fd), 0, "which is not set");
	expect(errno, EAGAIN, "says so");
	expect(polled(fd, POLLIN, 0), 0, "nor is it over");
	expect(set(fd, 0, 20, 0), 1, "once");
	expect(polled(fd, POLLIN, FOR_EVER), POLLIN, "poll waits for it");
	expect((long)taken(fd), 1, "it was over");
	expect((long)taken(fd), 0, "once");
	expect(timerfd_gettime(fd, &now) == 0 && now.it_value.tv_sec == 0 &&
		now.it_value.tv_nsec == 0, 1, "and is not set");
	expect(set(fd, 0, 10, 10), 1, "again and again");
	poll(NULL, 0, 100);
	expect(taken(fd) >= 9, 1, "each is counted");
	expect(timerfd_gettime(fd, &now) == 0 && now.it_interval.tv_nsec == 10 * MS &&
		now.it_value.tv_nsec <= 10 * MS, 1, "timerfd_gettime");
	expect(set(fd, 0, 3600000, 0), 1, "in an hour");
	expect(polled(fd, POLLIN, 30), 0, "which poll does not wait for");
	clock_gettime(CLOCK_MONOTONIC, &clock);
	now = (struct itimerspec){.it_value = clock};
	now.it_value.tv_sec += 3600;
	expect(timerfd_settime(fd, TFD_TIMER_ABSTIME, &now, NULL), 0, "at a time");
	expect(timerfd_gettime(fd, &now) == 0 && now.it_value.tv_sec >= 3598 &&
		now.it_value.tv_sec <= 3600, 1, "which is in an hour");
	expect(timerfd_settime(fd, TFD_TIMER_ABSTIME, &(struct itimerspec){.it_value = clock},
		NULL), 0, "at one that was");
	FD_ZERO(&in);
	FD_SET(fd, &in);
	expect(select(fd + 1, &in, NULL, NULL, NULL), 1, "select finds it");
	expect((long)taken(fd), 1, "over");
	slow = timerfd_create(CLOCK_REALTIME, 0);
	expect(set(slow, 0, 20, 0) && taken(slow) == 1, 1, "a read waits");
	clock_gettime(CLOCK_REALTIME, &clock);
	clock.tv_sec += 1000;
	expect(timerfd_settime(slow, TFD_TIMER_ABSTIME, &(struct itimerspec){.it_value = clock},
		NULL), 0, "at a time of the world");
	expect(timerfd_gettime(slow, &now) == 0 && now.it_value.tv_sec >= 998 &&
		now.it_value.tv_sec <= 1000, 1, "it is in that time");
	if (fork() == 0)
		_exit(!set(slow, 0, 10, 0));
	expect((long)taken(slow), 1, "a child sets it");
	child_ends();
	close(fd);
	close(slow);
}

/* --- signals --- */

static void
signals(void)
{
	struct signalfd_siginfo s[3];
	sigset_t set, old;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGRTMIN + 1);
	expect(sigprocmask(SIG_BLOCK, &set, &old), 0, "sigprocmask");
	fd = signalfd(-1, &set, SFD_NONBLOCK);
	expect(fd >= 0, 1, "signalfd");
	expect(polled(fd, POLLIN, 0), 0, "nothing is pending");
	expect(read(fd, s, sizeof(s)), -1, "nothing is there");
	expect(errno, EAGAIN, "which is said");
	kill(getpid(), SIGUSR1);
	expect(sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = 77}), 0, "sigqueue");
	expect(polled(fd, POLLIN, FOR_EVER), POLLIN, "now it is");
	expect(read(fd, s, sizeof(s)), 2 * (long)sizeof(s[0]), "two");
	expect(s[0].ssi_signo == SIGUSR1 && s[0].ssi_pid == (uint32_t)getpid() &&
		s[0].ssi_code == SI_USER, 1, "the first");
	expect((int)s[1].ssi_signo == SIGRTMIN + 1 && s[1].ssi_int == 77 &&
		s[1].ssi_code == SI_QUEUE, 1, "the second");
	expect(read(fd, s, sizeof(s)), -1, "and no more");
	if (fork() == 0) {
		poll(NULL, 0, 20);
		_exit(kill(getppid(), SIGUSR1) != 0);
	}
	expect(polled(fd, POLLIN, FOR_EVER), POLLIN, "poll waits for one");
	expect(read(fd, s, sizeof(s)), (long)sizeof(s[0]), "of another process");
	child_ends();
	sigdelset(&set, SIGUSR1);
	expect(signalfd(fd, &set, 0), fd, "others");
	kill(getpid(), SIGUSR1);
	expect(polled(fd, POLLIN, 0), 0, "not that one");
	sigaddset(&set, SIGUSR1);
	fcntl(fd, F_SETFL, 0);
	expect(signalfd(fd, &set, 0), fd, "and that one");
	expect(read(fd, s, sizeof(s[0])), (long)sizeof(s[0]), "is there");
	if (fork() == 0) {
		poll(NULL, 0, 20);
		_exit(kill(getppid(), SIGUSR1) != 0);
	}
	expect(read(fd, s, sizeof(s)), (long)sizeof(s[0]), "a read waits for one");
	child_ends();
	expect(read(fd, s, 10), -1, "too few bytes");
	expect(errno, EINVAL, "is wrong");
	close(fd);
	expect(sigprocmask(SIG_SETMASK, &old, NULL), 0, "sigprocmask");
}

/* --- lists --- */

static int
changed(int list, int what, int fd, uint32_t events, uint64_t data)
{
	struct epoll_event e = {.events = events, .data.u64 = data};

	return epoll_ctl(list, what, fd, &e);
}

/* How many, with the sum of their data and events. */
static long
waited(int list, int most, int wait)
{
	struct epoll_event e[8];
	int n = epoll_wait(list, e, most, wait);
	long sum = 0;

	for (int i = 0; i < n; i++)
		sum += (long)(e[i].data.u64 * 100 + e[i].events);
	return n < 0 ? -errno : n * 10000 + sum;
}

static void
lists(void)
{
	int list = epoll_create1(EPOLL_CLOEXEC), ends[2], count = eventfd(0, 0), pair[2];
	char c;

	expect(list >= 0 && pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, 1,
		"epoll_create1");
	expect(changed(list, EPOLL_CTL_ADD, ends[0], EPOLLIN, 1), 0, "a pipe");
	expect(changed(list, EPOLL_CTL_ADD, count, EPOLLIN | EPOLLOUT, 2), 0, "a count");
	expect(changed(list, EPOLL_CTL_ADD, pair[0], EPOLLIN | EPOLLRDHUP, 3), 0, "a socket");
	expect(changed(list, EPOLL_CTL_ADD, count, EPOLLIN, 2), -1, "twice");
	expect(errno, EEXIST, "is refused");
	expect(changed(list, EPOLL_CTL_MOD, ends[1], EPOLLIN, 2), -1, "none of the list");
	expect(errno, ENOENT, "is refused");
	expect(changed(list, EPOLL_CTL_ADD, list, EPOLLIN, 2), -1, "the list itself");
	expect(errno, EINVAL, "is refused");
	expect(waited(list, 8, 0), 10204, "the count can be written");
	expect(changed(list, EPOLL_CTL_MOD, count, EPOLLIN, 4), 0, "to be read only");
	expect(waited(list, 8, 0), 0, "nothing is there");
	expect(polled(list, POLLIN, 0), 0, "poll finds the same");
	expect(write(ends[1], "x", 1), 1, "into the pipe");
	expect(waited(list, 8, FOR_EVER), 10101, "the pipe");
	expect(polled(list, POLLIN, FOR_EVER), POLLIN, "poll finds it");
	expect(added(count, 1) && write(pair[1], "y", 1) == 1, 1, "all others");
	expect(waited(list, 8, FOR_EVER), 30803, "three");
	expect(waited(list, 2, 0) / 10000, 2, "two of them");
	expect(taken(count) == 1 && read(ends[0], &c, 1) == 1, 1, "taken");
	expect(waited(list, 8, 0), 10301, "the last");
	expect(shutdown(pair[1], SHUT_WR), 0, "it ends");
	expect(waited(list, 8, 0), 10301 + EPOLLRDHUP, "which is told");
	expect(changed(list, EPOLL_CTL_DEL, pair[0], 0, 0), 0, "no more");
	expect(waited(list, 8, 20), 0, "nothing, for a while");
	close(ends[1]);
	expect(waited(list, 8, FOR_EVER), 10100 + EPOLLHUP, "nobody writes");
	close(ends[0]);
	expect(waited(list, 8, 0), 0, "what is closed is in no list");
	expect(waited(list, 0, 0), -EINVAL, "room for none");
	expect(waited(count, 1, 0), -EINVAL, "no list");
	for (int i = 0; i < 2; i++)
		close(pair[i]);
	close(count);
	close(list);
}

/* A list is waited for as all else; with its changes, too. */
static void
lists_in_lists(void)
{
	int outer = epoll_create1(0), inner = epoll_create1(0), count = eventfd(0, 0);

	expect(changed(outer, EPOLL_CTL_ADD, inner, EPOLLIN | EPOLLET, 1), 0, "a list");
	expect(changed(inner, EPOLL_CTL_ADD, count, EPOLLIN, 2), 0, "that has a count");
	expect(changed(inner, EPOLL_CTL_ADD, outer, EPOLLIN, 2), -1, "in each other");
	expect(errno, ELOOP, "is refused");
	expect(waited(outer, 8, 0), 0, "nothing is there");
	if (fork() == 0) {
		usleep(1000);
		_exit(added(count, 1) != 1);
	}
	expect(waited(outer, 8, FOR_EVER), 10101, "a child counts");
	expect(wait(NULL) > 0, 1, "and ends");
	expect(waited(outer, 8, 0), 0, "which is told once");
	expect(polled(inner, POLLIN, 0), POLLIN, "it is still there");
	expect(added(count, 1), 1, "more");
	expect(waited(outer, 8, FOR_EVER), 10101, "which is told");
	expect((long)taken(count), 2, "taken");
	expect(waited(inner, 8, 0), 0, "nothing is there");
	close(inner);
	expect(changed(outer, EPOLL_CTL_MOD, count, EPOLLIN, 2), -1, "nothing is in it");
	close(outer);
	close(count);
}

/* What is told once; timers and signals in a list; a child that makes something happen. */
static void
changes(void)
{
	int list = epoll_create1(0), ends[2], timer = timerfd_create(CLOCK_MONOTONIC, 0);
	int count = eventfd(0, 0), sig;
	struct signalfd_siginfo s;
	sigset_t set, old;
	char c[4];

	expect(list >= 0 && timer >= 0 && pipe(ends) == 0, 1, "a list");
	expect(changed(list, EPOLL_CTL_ADD, ends[0], EPOLLIN | EPOLLET, 1), 0, "changes of a pipe");
	expect(changed(list, EPOLL_CTL_ADD, count, EPOLLIN | EPOLLONESHOT, 2), 0, "a count, once");
	expect(write(ends[1], "ab", 2), 2, "into the pipe");
	expect(waited(list, 8, FOR_EVER), 10101, "which is told");
	expect(waited(list, 8, 0), 0, "once");
	expect(write(ends[1], "c", 1), 1, "and more");
	expect(waited(list, 8, FOR_EVER), 10101, "which is told, too");
	expect(read(ends[0], c, 3), 3, "taken");
	expect(waited(list, 8, 0), 0, "nothing is there");
	expect(added(count, 1), 1, "counted");
	expect(waited(list, 8, FOR_EVER), 10201, "which is told");
	expect(added(count, 1), 1, "and again");
	expect(waited(list, 8, 0), 0, "is not");
	expect(changed(list, EPOLL_CTL_MOD, count, EPOLLIN | EPOLLONESHOT, 3), 0, "once more");
	expect(waited(list, 8, FOR_EVER), 10301, "is told once more");
	expect(changed(list, EPOLL_CTL_ADD, timer, EPOLLIN, 5), 0, "a timer");
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &old);
	sig = signalfd(-1, &set, 0);
	expect(changed(list, EPOLL_CTL_ADD, sig, EPOLLIN, 6), 0, "signals");
	expect(timerfd_settime(timer, 0, &(struct itimerspec){.it_value = {0, 20 * MS}}, NULL), 0,
		"which is set");
	expect(waited(list, 8, FOR_EVER), 10501, "is told when it is over");
	expect((long)taken(timer), 1, "taken");
	if (fork() == 0) {
		poll(NULL, 0, 20);
		_exit(kill(getppid(), SIGUSR2) != 0);
	}
	expect(waited(list, 8, FOR_EVER), 10601, "a signal is told");
	expect(read(sig, &s, sizeof(s)), (long)sizeof(s), "taken");
	child_ends();
	if (fork() == 0) {
		poll(NULL, 0, 20);
		_exit(write(ends[1], "d", 1) != 1);
	}
	expect(waited(list, 8, FOR_EVER), 10101, "a child writes");
	child_ends();
	sigprocmask(SIG_SETMASK, &old, NULL);
	for (int i = 0; i < 2; i++)
		close(ends[i]);
	close(timer);
	close(sig);
	close(count);
	close(list);
}

/* --- timers that are told by signals --- */

static volatile sig_atomic_t alarms, sum;

static void
on_alarm(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	sum += info->si_value.sival_int + (info->si_code == SI_TIMER ? 1000 : 0);
	alarms++;
}

static void
alarmed(union sigval value)
{
	int fd = value.sival_int;

	added(fd, 21);
}

static void
made(void)
{
	struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 2,
		.sigev_value.sival_int = 5};
	struct itimerspec t = {{0, 10 * MS}, {0, 10 * MS}};
	struct sigaction a = {.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO};
	timer_t one, other;
	int status = -1, fd = eventfd(0, 0);
	sigset_t set;
	siginfo_t info;

	sigaction(SIGRTMIN + 2, &a, NULL);
	expect(timer_create(CLOCK_MONOTONIC, &e, &one), 0, "timer_create");
	expect(timer_settime(one, 0, &t, NULL), 0, "again and again");
	while (alarms < 3)
		pause();
	expect(sum / alarms, 1005, "with its value");
	expect(timer_gettime(one, &t) == 0 && t.it_interval.tv_nsec == 10 * MS &&
		t.it_value.tv_sec == 0 && t.it_value.tv_nsec <= 10 * MS, 1, "timer_gettime");
	expect(timer_getoverrun(one) >= 0, 1, "timer_getoverrun");
	if (fork() == 0)
		_exit(timer_gettime(one, &t) == 0);
	while (wait(&status) < 0)
		continue;
	expect(status, 0, "a child has none");
	expect(timer_delete(one), 0, "timer_delete");
	expect(timer_delete(one) != 0, 1, "twice");
	e = (struct sigevent){.sigev_notify = SIGEV_THREAD, .sigev_value.sival_int = fd,
		.sigev_notify_function = alarmed};
	expect(timer_create(CLOCK_REALTIME, &e, &other), 0, "by a thread");
	t = (struct itimerspec){.it_value = {0, 5 * MS}};
	expect(timer_settime(other, 0, &t, NULL), 0, "once");
	expect((long)taken(fd), 21, "which it tells");
	expect(timer_delete(other), 0, "timer_delete");
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	e = (struct sigevent){.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 2};
	expect(timer_create(CLOCK_REALTIME, &e, &one), 0, "by the clock of the world");
	clock_gettime(CLOCK_REALTIME, &t.it_value);
	t.it_interval = (struct timespec){0, 0};
	expect(timer_settime(one, TIMER_ABSTIME, &t, NULL), 0, "at a time that was");
	expect(sigwaitinfo(&set, &info), SIGRTMIN + 2, "is told at once");
	t = (struct itimerspec){{INT64_MAX, 0}, {0, 1}};
	expect(timer_settime(one, 0, &t, NULL), 0, "with the longest period");
	expect(sigwaitinfo(&set, &info), SIGRTMIN + 2, "is told");
	t.it_value = (struct timespec){0, 20 * MS};
	expect(sigtimedwait(&set, &info, &t.it_value), -1, "once");
	expect(timer_delete(one), 0, "timer_delete");
	close(fd);
}

/* --- in messages --- */

static void
send_fd(int to, int fd)
{
	char room[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec piece = {"x", 1};
	struct msghdr m = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = room,
		.msg_controllen = sizeof(room)};

	*CMSG_FIRSTHDR(&m) = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
		.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &fd, sizeof(fd));
	expect(sendmsg(to, &m, 0), 1, "sendmsg");
}

static int
receive_fd(int from)
{
	char room[CMSG_SPACE(sizeof(int))] = {0}, c;
	struct iovec piece = {&c, 1};
	struct msghdr m = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = room,
		.msg_controllen = sizeof(room)};
	int fd = -1;

	expect(recvmsg(from, &m, 0), 1, "recvmsg");
	if (CMSG_FIRSTHDR(&m) != NULL)
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

static void
messages(void)
{
	int pair[2], count = eventfd(0, 0), list = epoll_create1(0), got[2];

	expect(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0, "socketpair");
	expect(changed(list, EPOLL_CTL_ADD, count, EPOLLIN, 8), 0, "a list");
	if (fork() == 0) {
		close(count);
		close(list);
		for (int i = 0; i < 2; i++)
			got[i] = receive_fd(pair[1]);
		expect(added(got[0], 4), 1, "what came is the count");
		expect(waited(got[1], 8, FOR_EVER), 10801, "and the list");
		_exit(failures);
	}
	send_fd(pair[0], count);
	send_fd(pair[0], list);
	expect(waited(list, 8, FOR_EVER), 10801, "as here");
	child_ends();
	expect((long)taken(count), 4, "where it is taken");
	for (int i = 0; i < 2; i++)
		close(pair[i]);
	close(count);
	close(list);
}

/* --- another program --- */

static int
second(char **fds)
{
	int count = atoi(fds[0]), timer = atoi(fds[1]), sig = atoi(fds[2]), list = atoi(fds[3]);
	struct signalfd_siginfo s;

	expect((long)taken(count), 5, "a count after exec");
	expect((long)taken(timer), 1, "a timer");
	kill(getpid(), SIGUSR1);
	expect(read(sig, &s, sizeof(s)), (long)sizeof(s), "signals");
	expect(added(count, 1), 1, "added");
	expect(waited(list, 8, FOR_EVER), 10901, "a list");
	return failures;
}

static void
programs(const char *name)
{
	char text[4][12];
	int fd[4] = {eventfd(5, 0), timerfd_create(CLOCK_MONOTONIC, 0)};
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &old);
	fd[2] = signalfd(-1, &set, 0);
	fd[3] = epoll_create1(0);
	expect(changed(fd[3], EPOLL_CTL_ADD, fd[0], EPOLLIN, 9), 0, "a list");
	expect(timerfd_settime(fd[1], 0, &(struct itimerspec){.it_value = {0, 1 * MS}},
		NULL), 0, "a timer");
	for (int i = 0; i < 4; i++)
		snprintf(text[i], sizeof(text[i]), "%d", fd[i]);
	fflush(stdout);
	if (fork() == 0) {
		execl(name, name, "second", text[0], text[1], text[2], text[3], NULL);
		_exit(9);
	}
	child_ends();
	sigprocmask(SIG_SETMASK, &old, NULL);
	for (int i = 0; i < 4; i++)
		close(fd[i]);
}

int
main(int argc, char **argv)
{
	if (argc > 2)
		return second(argv + 2);
	counts();
	timers();
	signals();
	lists();
	lists_in_lists();
	changes();
	made();
	messages();
	programs("/proc/self/exe");
	return verdict("events");
}
