/* SPDX-License-Identifier: MIT
 *
 * Processor time of threads, processes and children: the same here and on Linux. Nothing is said of
 * how long something takes, but of what may be longer than what.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000L
#define LONG (60 * MS)			/* computed; more than a tick */
#define PART (30 * MS)

static void
say(const char *what, int is_so)
{
	printf("%s: %s\n", what, is_so ? "yes" : "no");
}

static long
now(clockid_t clock)
{
	struct timespec t;

	return clock_gettime(clock, &t) != 0 ? -1 : t.tv_sec * 1000 * MS + t.tv_nsec;
}

/* Compute until the thread has had so much time. */
static void
compute(long ns)
{
	long end = now(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 1000; i++)
			continue;
}

static long
of(const struct rusage *u)
{
	return (u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000 * MS +
		(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000;
}

static long
used(int who)
{
	struct rusage u;

	return getrusage(who, &u) != 0 ? -1 : of(&u);
}

static void *
other(void *clock)
{
	compute(LONG);
	*(long *)clock = now(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

static void
threads(void)
{
	long before, own, process, others = 0;
	clockid_t id;
	pthread_t t;

	compute(LONG);
	own = now(CLOCK_THREAD_CPUTIME_ID);
	process = now(CLOCK_PROCESS_CPUTIME_ID);
	say("a thread that computes has time", own >= LONG);
	say("its process has as much", process >= own);
	say("getrusage of the process", used(RUSAGE_SELF) >= LONG);
	say("getrusage of the thread", used(RUSAGE_THREAD) >= LONG);
	say("clock", clock() >= LONG / 1000);
	before = now(CLOCK_PROCESS_CPUTIME_ID);
	nanosleep(&(struct timespec){0, 300 * MS}, NULL);
	say("who sleeps has none", now(CLOCK_PROCESS_CPUTIME_ID) - before < 200 * MS);
	own = now(CLOCK_THREAD_CPUTIME_ID);
	if (pthread_create(&t, NULL, other, &others) != 0)
		exit(1);
	say("the clock of another thread", pthread_getcpuclockid(t, &id) == 0 &&
		now(id) >= 0);
	pthread_join(t, NULL);
	say("another thread has time", others >= LONG);
	say("which is not this one's", now(CLOCK_THREAD_CPUTIME_ID) - own < LONG);
	say("but the process's, also after its end",
		now(CLOCK_PROCESS_CPUTIME_ID) - before >= LONG);
	say("the clock of the process", clock_getcpuclockid(0, &id) == 0 && now(id) > LONG);
}

static void
child(const char *what, void (*body)(void), int status)
{
	long before = used(RUSAGE_CHILDREN);
	struct rusage u;
	struct tms t, then;
	int have;
	pid_t pid;

	times(&t);
	pid = fork();
	if (pid == 0) {
		body();
		_exit(7);
	}
	say(what, wait4(pid, &have, 0, &u) == pid && have == status);
	times(&then);
	say("wait4 says its time", of(&u) >= PART);
	say("getrusage of children has more", used(RUSAGE_CHILDREN) - before >= PART);
	say("times of children", then.tms_cutime + then.tms_cstime >= t.tms_cutime + t.tms_cstime +
		2);
}

static long of_parent;

static void
computes(void)
{
	struct tms t;

	say("a child begins with nothing", used(RUSAGE_CHILDREN) == 0 &&
		now(CLOCK_PROCESS_CPUTIME_ID) < of_parent);
	compute(LONG);
	times(&t);
	say("times of itself", t.tms_utime + t.tms_stime >= 3);
	fflush(stdout);
}

static void
computes_at_once(void)
{
	volatile long x = 1l << 62;

	for (long i = 1; i < 20000000; i++)
		x = x / (i & 3 ? 1 : 3) | 1l << 62;
}

static void
has_a_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		compute(LONG);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void
ends_by_a_signal(void)
{
	compute(LONG);
	signal(SIGTERM, SIG_DFL);
	raise(SIGTERM);
}

static void
becomes_another(void)
{
	has_a_child();
	compute(LONG);
	execl("/proc/self/exe", "times", "again", NULL);
}

static void
as_another(void)
{
	struct tms t;

	times(&t);
	say("another program has the time of its process", t.tms_utime + t.tms_stime >= 5);
	say("and of its children", t.tms_cutime + t.tms_cstime >= 5);
}

int
main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && strcmp(argv[1], "again") == 0) {
		as_another();
		/* a library may have an end of its own */
		syscall(SYS_exit_group, 7);
	}
	threads();
	of_parent = now(CLOCK_PROCESS_CPUTIME_ID);
	child("a child computes", computes, 7 << 8);
	child("a child computes without a call", computes_at_once, 7 << 8);
	child("a child has a child that computes", has_a_child, 7 << 8);
	child("a child ends by a signal", ends_by_a_signal, SIGTERM);
	child("a child becomes another program", becomes_another, 7 << 8);
	printf("ok times\n");
	return 0;
}
