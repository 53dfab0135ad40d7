/* SPDX-License-Identifier: MIT
 *
 * POSIX message queues between processes: priorities, times, limits, notification, names, and what
 * is wrong. Nothing here knows of Atoll.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "unaware.h"

#define MESSAGES 5
#define BYTES 5000
#define ROUNDS 60
#define MS 1000000l

static char name[64];
static char big[BYTES + 1], got[BYTES + 1];

static void
fails(long result, int error, const char *what)
{
	expect(result == -1 ? errno : -1, error, what);
}

static mqd_t
made(int flags)
{
	struct mq_attr a = {.mq_maxmsg = MESSAGES, .mq_msgsize = BYTES};
	mqd_t q = mq_open(name, O_RDWR | O_CREAT | O_EXCL | flags, 0600, &a);

	expect(q != (mqd_t)-1, 1, "mq_open");
	return q;
}

static struct timespec
in(long ns)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ns;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static int
end_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

static short
polled(mqd_t q)
{
	struct pollfd p = {q, POLLIN | POLLOUT, 0};

	poll(&p, 1, 0);
	return p.revents;
}

static void
priorities(void)
{
	static const char *const text[] = {"low", "high", "middle", "high again", ""};
	static const unsigned priority[] = {1, 9, 5, 9, 0};
	static const int order[] = {1, 3, 2, 0, 4};
	mqd_t q = made(0);
	struct mq_attr a;
	unsigned p;

	expect(polled(q), POLLOUT, "poll of an empty one");
	for (int i = 0; i < MESSAGES; i++)
		expect(mq_send(q, text[i], strlen(text[i]), priority[i]), 0, "mq_send");
	expect(mq_getattr(q, &a), 0, "mq_getattr");
	expect(a.mq_maxmsg == MESSAGES && a.mq_msgsize == BYTES && a.mq_curmsgs == MESSAGES &&
		a.mq_flags == 0, 1, "attributes");
	expect(polled(q), POLLIN, "poll of a full one");
	for (int i = 0; i < MESSAGES; i++) {
		expect(mq_receive(q, got, BYTES, &p), (long)strlen(text[order[i]]), "length");
		expect(p, priority[order[i]], "priority");
		expect(memcmp(got, text[order[i]], strlen(text[order[i]])), 0, "text");
	}
	for (int i = 0; i < BYTES; i++)
		big[i] = (char)(i * 7);
	expect(mq_send(q, big, BYTES, 3), 0, "the longest");
	expect(mq_receive(q, got, BYTES + 1, NULL), BYTES, "the longest");
	expect(memcmp(got, big, BYTES), 0, "its bytes");
	mq_close(q);
	mq_unlink(name);
}

static void
what_is_wrong(void)
{
	struct mq_attr a = {.mq_maxmsg = 0, .mq_msgsize = 10};
	mqd_t q = made(O_NONBLOCK), r;
	struct timespec t = {0, 2000000000};

	fails(mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, NULL), EEXIST, "EXCL");
	fails(mq_open("/no-such-queue", O_RDWR), ENOENT, "no name");
	fails(mq_open("/a/b", O_RDWR | O_CREAT, 0600, NULL), EACCES, "a slash");
	fails(mq_open("/", O_RDWR | O_CREAT, 0600, NULL), ENOENT, "nothing");
	fails(mq_open("/attributes-of-queues", O_RDWR | O_CREAT, 0600, &a), EINVAL, "no messages");
	fails(mq_send(q, big, BYTES + 1, 0), EMSGSIZE, "too long");
	fails(mq_send(q, big, 1, 32768), EINVAL, "priority");
	fails(mq_receive(q, got, BYTES - 1, NULL), EMSGSIZE, "no room");
	fails(mq_receive(q, got, BYTES, NULL), EAGAIN, "empty");
	for (int i = 0; i < MESSAGES; i++)
		mq_send(q, "x", 1, 0);
	fails(mq_send(q, "x", 1, 0), EAGAIN, "full");
	r = mq_open(name, O_RDONLY);
	fails(mq_send(r, "x", 1, 0), EBADF, "to be read");
	mq_close(r);
	r = mq_open(name, O_WRONLY);
	fails(mq_receive(r, got, BYTES, NULL), EBADF, "to be written");
	fails(mq_timedsend(r, "x", 1, 0, &t), EINVAL, "a time");
	t = in(20 * MS);
	fails(mq_timedsend(r, "x", 1, 0, &t), ETIMEDOUT, "a time that passes");
	mq_close(r);
	fails(mq_send(99, "x", 1, 0), EBADF, "closed");
	fails(mq_send(0, "x", 1, 0), EBADF, "no queue");
	a.mq_flags = 0;
	expect(mq_setattr(q, &a, &a), 0, "mq_setattr");
	expect(a.mq_flags == O_NONBLOCK && a.mq_curmsgs == MESSAGES, 1, "what it was");
	while (mq_getattr(q, &a) == 0 && a.mq_curmsgs > 0)
		mq_receive(q, got, BYTES, NULL);
	t = in(20 * MS);
	fails(mq_timedreceive(q, got, BYTES, NULL, &t), ETIMEDOUT, "nothing in time");
	expect(mq_unlink(name), 0, "mq_unlink");
	fails(mq_unlink(name), ENOENT, "mq_unlink again");
	mq_send(q, "still", 5, 0);
	expect(mq_receive(q, got, BYTES, NULL), 5, "without a name");
	r = made(0);
	fails(mq_receive(r, got, 1, NULL), EMSGSIZE, "another one of that name");
	mq_close(q), mq_close(r);
	mq_unlink(name);
}

/* Between processes that open it by name, with waits on both sides. */
static void
produce(int who)
{
	mqd_t q = mq_open(name, O_WRONLY);
	char text[32];

	for (int i = 0; i < ROUNDS; i++) {
		snprintf(text, sizeof(text), "%d %d", who, i);
		if (mq_send(q, text, strlen(text) + 1, 0) != 0)
			_exit(1);
	}
	_exit(0);
}

static void
between_processes(void)
{
	mqd_t q = made(0);
	int next[3] = {0}, wrong = 0, who, i;
	pid_t pid[3];

	for (who = 0; who < 3; who++) {
		pid[who] = fork();
		if (pid[who] == 0)
			produce(who);
	}
	for (int n = 0; n < 3 * ROUNDS; n++) {
		expect(mq_receive(q, got, BYTES, NULL) > 0, 1, "mq_receive");
		if (sscanf(got, "%d %d", &who, &i) != 2 || who < 0 || who > 2 || next[who]++ != i)
			wrong++;
	}
	expect(wrong, 0, "in order");
	for (who = 0; who < 3; who++)
		expect(end_of(pid[who]), 0, "a producer");
	/* who waits is killed, and takes nothing */
	pid[0] = fork();
	if (pid[0] == 0) {
		mq_receive(q, got, BYTES, NULL);
		_exit(0);
	}
	usleep(30000);
	kill(pid[0], SIGKILL);
	expect(WTERMSIG(end_of(pid[0])), SIGKILL, "killed");
	expect(mq_send(q, "left", 5, 0), 0, "mq_send");
	expect(mq_receive(q, got, BYTES, NULL), 5, "what it left");
	mq_close(q);
	mq_unlink(name);
}

static volatile sig_atomic_t told;

static void
tell(int sig)
{
	(void)sig;
	told++;
}

static void
wait_told(int want)
{
	for (int i = 0; i < 2000 && told < want; i++)
		usleep(1000);
	usleep(20000);
	expect(told, want, "told");
}

static void
notified(void)
{
	struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	mqd_t q = made(O_NONBLOCK);
	pid_t pid;

	signal(SIGUSR1, tell);
	expect(mq_notify(q, &e), 0, "mq_notify");
	fails(mq_notify(q, &e), EBUSY, "mq_notify again");
	pid = fork();
	if (pid == 0) {
		mq_send(q, "one", 3, 0);
		mq_send(q, "two", 3, 0);
		_exit(0);
	}
	expect(end_of(pid), 0, "a sender");
	wait_told(1);
	while (mq_receive(q, got, BYTES, NULL) > 0)
		continue;
	mq_send(q, "three", 5, 0);
	wait_told(1);
	expect(mq_notify(q, &e), 0, "mq_notify");
	mq_send(q, "four", 4, 0);
	wait_told(1);
	while (mq_receive(q, got, BYTES, NULL) > 0)
		continue;
	mq_send(q, "five", 4, 0);
	wait_told(2);
	expect(mq_notify(q, &e), 0, "mq_notify");
	expect(mq_notify(q, NULL), 0, "not any more");
	while (mq_receive(q, got, BYTES, NULL) > 0)
		continue;
	mq_send(q, "six", 3, 0);
	wait_told(2);
	e.sigev_signo = 99;
	fails(mq_notify(q, &e), EINVAL, "no signal");
	/* who wanted to be told is dead: another one may */
	e.sigev_signo = SIGUSR1;
	pid = fork();
	if (pid == 0) {
		mq_notify(q, &e);
		kill(getpid(), SIGKILL);
	}
	end_of(pid);
	expect(mq_notify(q, &e), 0, "after a death");
	mq_close(q);
	mq_unlink(name);
}

int
main(void)
{
	snprintf(name, sizeof(name), "/queues-%d", getpid());
	priorities();
	what_is_wrong();
	between_processes();
	notified();
	return verdict("queues");
}
