/* SPDX-License-Identifier: MIT
 *
 * Semaphores and tubes between processes with the C library: a segment by shm_open, semaphores and
 * tubes in it by name. Processes talk, wait for several at once, and are killed at random moments;
 * the others go on. What is wrong is an error, and ends no one else.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <abi/errors.h>
#include <abi/limits.abi.h>
#include <atoll/kcalls.h>
#include <atoll/sem.h>
#include <atoll/tube.h>
#include "expect.h"

#define BYTES 65536
#define ROUNDS 300
#define WORKERS 3
#define VICTIMS 40
#define SECOND 1000000000ull

struct letter {
	int from, number;
	char text[56];
};

static char name[64];
static struct segment here;

/* Each process maps it anew, so that addresses may differ. */
static void
join(void)
{
	int fd = shm_open(name, O_RDWR | O_CREAT, 0600);
	void *at;

	ftruncate(fd, BYTES);
	at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	expect(at != MAP_FAILED, 1, "mmap");
	expect(segment_begin(&here, at, BYTES, SEGMENT_SHARED), 0, "segment_begin");
}

static pid_t
child(void (*what)(int), int of)
{
	pid_t pid = fork();

	if (pid == 0) {
		join();
		what(of);
		fflush(stdout);
		_exit(failures != 0);
	}
	return pid;
}

static int
end_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

static uint64_t
soon(uint64_t ns)
{
	uint64_t now = 0;

	kclock(&now);
	return now + ns;
}

static void
open_sem(struct sem *s, const char *its, uint32_t value)
{
	expect(newsem(&here, s, its, value), 0, its);
}

static void
open_tube(struct tube *t, const char *its, uint32_t n)
{
	expect(newtube(&here, t, its, sizeof(struct letter), n), 0, its);
}

/* --- semaphores --- */

static void
answers(int unused)
{
	struct sem ping, pong;

	(void)unused;
	open_sem(&ping, "ping", 0);
	open_sem(&pong, "pong", 0);
	for (int i = 0; i < ROUNDS; i++) {
		expect(downsem(&ping, FOREVER), 0, "downsem in a child");
		expect(upsem(&pong), 0, "upsem in a child");
	}
}

static void
ping_pong(void)
{
	struct sem ping, pong;
	pid_t pid = child(answers, 0);

	open_sem(&ping, "ping", 0);
	open_sem(&pong, "pong", 0);
	for (int i = 0; i < ROUNDS; i++) {
		upsem(&ping);
		expect(downsem(&pong, FOREVER), 0, "downsem");
	}
	expect(end_of(pid), 0, "the end of who answers");
	expect(downsem(&pong, 0), -E_AGAIN, "no more");
	expect(downsem(&pong, soon(SECOND / 100)), -E_TIMEDOUT, "for a while");
}

/* --- tubes --- */

static void
works(int me)
{
	struct tube jobs, results;
	struct letter l;

	open_tube(&jobs, "jobs", 4);
	open_tube(&results, "results", 4);
	for (;;) {
		expect(treceive(&jobs, &l, FOREVER), 0, "treceive in a child");
		if (l.number < 0)
			break;
		l.from = me;
		memset(l.text, l.number, sizeof(l.text));
		expect(tsend(&results, &l, FOREVER), 0, "tsend in a child");
	}
}

static void
got(const struct letter *l, int *seen)
{
	expect(l->number >= 0 && l->number < ROUNDS && !seen[l->number], 1, "a result");
	seen[l->number] = 1;
	for (size_t i = 0; i < sizeof(l->text); i++)
		if (l->text[i] != (char)l->number)
			expect(l->text[i], l->number, "the text of a result");
}

static void
share_work(void)
{
	struct letter out = {0}, in;
	struct tube jobs, results;
	pid_t pid[WORKERS];
	int seen[ROUNDS] = {0}, sent = 0, received = 0;

	open_tube(&jobs, "jobs", 4);
	open_tube(&results, "results", 4);
	for (int i = 0; i < WORKERS; i++)
		pid[i] = child(works, i);
	while (received < ROUNDS) {
		struct talt a[] = {{&jobs, &out, sent < ROUNDS ? TALT_SEND : TALT_NONE, NULL},
			{&results, &in, TALT_RECEIVE, NULL}};
		int k;

		out.number = sent;
		k = talt(a, 2, FOREVER);
		if (k == 0)
			sent++;
		else if (expect(k, 1, "talt"), k == 1)
			got(&in, seen), received++;
	}
	out.number = -1;
	for (int i = 0; i < WORKERS; i++)
		expect(tsend(&jobs, &out, FOREVER), 0, "the last ones");
	for (int i = 0; i < WORKERS; i++)
		expect(end_of(pid[i]), 0, "the end of a worker");
	expect(freetube(&jobs) | freetube(&results), 0, "freetube");
}

/* --- who is killed --- */

static void
talks_for_ever(int seed)
{
	struct tube there, back;
	struct sem s;
	struct letter l = {.from = seed};

	srand((unsigned)seed);
	open_tube(&there, "there", 64);
	open_tube(&back, "back", 64);
	open_sem(&s, "extra", 0);
	for (;;) {
		const struct sem *set[] = {&s, &there.holes};
		struct talt a[] = {{&there, &l, TALT_SEND, NULL}, {&back, &l, TALT_RECEIVE, NULL}};

		switch (rand() % 4) {
		case 0: talt(a, 2, FOREVER); break;
		case 1: nbtsend(&there, &l); break;
		case 2: if (altsems(set, 2, soon(SECOND / 1000)) == 1) upsem(&there.holes); break;
		default: upsem(&s), downsem(&s, soon(SECOND / 1000));
		}
	}
}

/* Many are killed at any moment; the survivors exchange messages as before. */
static void
who_is_killed_holds_up_nobody(void)
{
	struct tube there, back;
	struct letter l = {.from = -1};

	open_tube(&there, "there", 64);
	open_tube(&back, "back", 64);
	for (int i = 0; i < VICTIMS; i++) {
		pid_t pid = child(talks_for_ever, i + 1);
		struct talt a[] = {{&there, &l, TALT_RECEIVE, NULL}, {&back, &l, TALT_SEND, NULL}};

		for (int n = rand() % 60; n >= 0; n--) {
			int k = talt(a, 2, soon(SECOND));

			expect(k >= 0 || k == -E_TIMEDOUT, 1, "talt with who is killed");
		}
		kill(pid, SIGKILL);
		expect(WTERMSIG(end_of(pid)), SIGKILL, "killed");
	}
	while (nbtreceive(&there, &l) == 1)
		continue;
	while (nbtreceive(&back, &l) == 1)
		continue;
	for (int i = 0; i < 2 * VICTIMS; i++) {
		expect(tsend(&there, &l, soon(SECOND)), 0, "a message through what is left");
		expect(treceive(&there, &l, soon(SECOND)), 0, "and back");
	}
}

static void
waits(int how)
{
	struct tube t;
	struct sem s;
	struct letter l;
	int e;

	open_tube(&t, "ended", 2);
	open_sem(&s, "never", 0);
	e = how == 0 ? treceive(&t, &l, FOREVER) :
		altsems((const struct sem *[]){&s, &t.messages}, 2, FOREVER);
	expect(e, -E_PIPE, "a tube that is ended");
}

static void
the_end_is_told(void)
{
	struct tube t;
	pid_t pid[2];

	open_tube(&t, "ended", 2);
	for (int i = 0; i < 2; i++)
		pid[i] = child(waits, i);
	usleep(20000);
	expect(endtube(&t), 0, "endtube");
	/* one that comes later finds another tube of that name, which is ended, too */
	for (int i = 0; i < 2; i++)
		expect(end_of(pid[i]), 0, "who was told");
	expect(freetube(&t), 0, "freetube");
}

/* --- what is wrong --- */

static void
bad_memory(int how)
{
	static _Alignas(64) char own[4096];
	struct segment g;
	struct sem s;
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	expect(segment_begin(&g, how == 2 ? own : at, 4096, 0), 0, "segment_begin");
	expect(newsem(&g, &s, NULL, 0), 0, "newsem");
	if (how == 0)
		munmap(at, 4096);
	else
		mprotect(at, 4096, PROT_READ);
	if (how == 2)
		_exit(upsem(&s) | downsem(&s, FOREVER));
	upsem(&s);
}

static void
what_is_wrong(void)
{
	struct segment g;
	struct sem s = {0};
	struct tube t = {0};

	expect(upsem(&s), -E_INVAL, "no semaphore");
	expect(tsend(&t, "", FOREVER), -E_INVAL, "no tube");
	expect(segment_begin(&g, NULL, BYTES, 0), -E_INVAL, "no memory");
	expect(newtube(&here, &t, NULL, BYTES, 2), -E_NOMEM, "too large");
	expect(kfutex_wait(64, 0, FOREVER), -E_FAULT, "the kernel's part");
	expect(kfutex_wake(64 | FUTEX_SHARED, 1), -E_FAULT, "the kernel's part");
	expect(WTERMSIG(end_of(child(bad_memory, 0))), SIGSEGV, "unmapped memory");
	expect(WTERMSIG(end_of(child(bad_memory, 1))), SIGSEGV, "memory to be read");
	expect(end_of(child(bad_memory, 2)), 0, "memory of its own");
}

int
main(void)
{
	snprintf(name, sizeof(name), "/tubes-%d", getpid());
	join();
	ping_pong();
	share_work();
	the_end_is_told();
	who_is_killed_holds_up_nobody();
	what_is_wrong();
	shm_unlink(name);
	return verdict();
}
