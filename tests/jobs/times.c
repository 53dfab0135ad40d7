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
#include <sys/time.h>
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

/* Whether time in which this process sleeps is its own. A core that stands still is counted. */
static int
sleeps_for_nothing(void)
{
	for (int i = 0; i < 10; i++) {
		long before = now(CLOCK_PROCESS_CPUTIME_ID);

		nanosleep(&(struct timespec){0, PART}, NULL);
		if (now(CLOCK_PROCESS_CPUTIME_ID) - before < PART / 2)
			return 1;
	}
	return 0;
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
	say("who sleeps has none", sleeps_for_nothing());
	before = now(CLOCK_PROCESS_CPUTIME_ID);
	if (pthread_create(&t, NULL, other, &others) != 0)
		exit(1);
	say("the clock of another thread", pthread_getcpuclockid(t, &id) == 0 &&
		now(id) >= 0);
	pthread_join(t, NULL);
	say("another thread has time", others >= LONG);
	own = now(CLOCK_THREAD_CPUTIME_ID);
	say("which is not this one's", own + others <= now(CLOCK_PROCESS_CPUTIME_ID));
	say("but the process's, also after its end",
		now(CLOCK_PROCESS_CPUTIME_ID) - before >= LONG);
	say("the clock of the process", clock_getcpuclockid(0, &id) == 0 && now(id) > LONG);
}

/* A number of a file of lines that /proc has of this process. */
static long
status_says(const char *name)
{
	char path[64], line[256];
	long value = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)getpid());
	f = fopen(path, "r");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
			value = strtol(line + strlen(name) + 1, NULL, 10);
	if (f != NULL)
		fclose(f);
	return value;
}

/* What /proc has of this process: times in ticks, and its threads. */
static void
stat_says(long *ticks, long *threads)
{
	char path[64], text[1024];
	long user = -1, kernel = 0;
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)getpid());
	f = fopen(path, "r");
	if (f != NULL) {
		n = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
	}
	text[n] = 0;
	if (n == 0 || sscanf(strrchr(text, ')') + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u "
		"%*u %ld %ld %*d %*d %*d %*d %ld", &user, &kernel, threads) != 3)
		user = -1;
	*ticks = user + kernel;
}

static void *
waits(void *until)
{
	while (__atomic_load_n((int *)until, __ATOMIC_ACQUIRE) == 0)
		nanosleep(&(struct timespec){0, MS}, NULL);
	return NULL;
}

/* /proc tells others what a process is told of itself. */
static void
others_are_told(void)
{
	long ticks, threads = 0, before = status_says("voluntary_ctxt_switches");
	struct rusage u, v;
	struct tms t, then;
	int until = 0;
	pthread_t other_one;

	times(&t);
	stat_says(&ticks, &threads);
	times(&then);
	say("/proc has the time of times", ticks >= t.tms_utime + t.tms_stime &&
		ticks <= then.tms_utime + then.tms_stime && ticks > 0);
	say("one thread", threads == 1);
	if (pthread_create(&other_one, NULL, waits, &until) != 0)
		exit(1);
	stat_says(&ticks, &threads);
	say("two threads", threads == 2);
	getrusage(RUSAGE_THREAD, &u);
	nanosleep(&(struct timespec){0, MS}, NULL);
	getrusage(RUSAGE_THREAD, &v);
	say("a wait is counted", v.ru_nvcsw > u.ru_nvcsw);
	__atomic_store_n(&until, 1, __ATOMIC_RELEASE);
	pthread_join(other_one, NULL);
	say("/proc has waits", before >= 0 && status_says("voluntary_ctxt_switches") > before);
	say("and turns of others", status_says("nonvoluntary_ctxt_switches") >= 0);
	say("its memory", status_says("VmRSS") > 0);
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

/* Timers go on in another program of the process, and signals wait there; in no child. */
static void
sets_timers(void)
{
	struct itimerval t = {{0, 0}, {1000, 0}}, p = {{0, 0}, {500, 0}}, was,
		r = {{0, 250000}, {0, 2000}};
	sigset_t s;
	pid_t pid;

	setitimer(ITIMER_VIRTUAL, &t, NULL);
	setitimer(ITIMER_PROF, &p, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
	pid = fork();
	if (pid == 0) {
		getitimer(ITIMER_REAL, &was);
		say("a child has none", was.it_value.tv_sec == 0 && was.it_value.tv_usec == 0);
		getitimer(ITIMER_PROF, &was);
		say("of no clock", was.it_value.tv_sec == 0 && was.it_value.tv_usec == 0);
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	sigemptyset(&s);
	sigaddset(&s, SIGALRM);
	sigaddset(&s, SIGUSR1);
	sigprocmask(SIG_BLOCK, &s, NULL);
	raise(SIGUSR1);
	setitimer(ITIMER_REAL, &r, NULL);
	execl("/proc/self/exe", "times", "timers", NULL);
}

static void
has_timers(void)
{
	struct itimerval was;
	sigset_t s;
	int sig = 0;

	getitimer(ITIMER_VIRTUAL, &was);
	say("another program has the timers of its process", was.it_value.tv_sec > 990 &&
		was.it_value.tv_sec <= 1000);
	getitimer(ITIMER_PROF, &was);
	say("all of them", was.it_value.tv_sec > 490 && was.it_value.tv_sec <= 500);
	getitimer(ITIMER_REAL, &was);
	say("with their periods", was.it_interval.tv_usec == 250000);
	sigpending(&s);
	say("a signal waits there, too", sigismember(&s, SIGUSR1));
	sigemptyset(&s);
	sigaddset(&s, SIGALRM);
	for (int i = 0; i < 3; i++)
		say("it rings", sigwait(&s, &sig) == 0 && sig == SIGALRM);
	compute(LONG);
	fflush(stdout);
	syscall(SYS_exit_group, 7);
}

static volatile sig_atomic_t rung;

static void
rings(int sig)
{
	(void)sig;
	rung++;
}

static void
sleep_for(long ns)
{
	struct timespec left = {0, ns};

	while (nanosleep(&left, &left) != 0)
		continue;
}

static void *
until_it_rings(void *unused)
{
	while (rung == 0)
		continue;
	return unused;
}

/* A timer of processor time: 20 ms of it, again and again. */
static void
timer(const char *name, int which, int sig)
{
	struct itimerval t = {{0, 20000}, {0, 20000}}, was;
	static const struct itimerval off;
	long before = now(CLOCK_PROCESS_CPUTIME_ID);
	pthread_t thread;

	printf("%s\n", name);
	signal(sig, rings);
	rung = 0;
	say("it is set", setitimer(which, &t, NULL) == 0);
	sleep_for(200 * MS);
	say("who sleeps is not told", rung * 20 * MS <= now(CLOCK_PROCESS_CPUTIME_ID) - before);
	while (rung < 3)
		continue;
	say("who computes is", now(CLOCK_PROCESS_CPUTIME_ID) - before >= PART);
	say("it is asked", getitimer(which, &was) == 0 && was.it_interval.tv_usec == 20000 &&
		was.it_value.tv_sec == 0 && was.it_value.tv_usec > 0);
	rung = 0;
	if (pthread_create(&thread, NULL, until_it_rings, NULL) != 0)
		exit(1);
	pthread_join(thread, NULL);
	say("another thread's time counts", rung > 0);
	say("it is set to nothing", setitimer(which, &off, &was) == 0 &&
		was.it_interval.tv_usec == 20000);
	rung = 0;
	compute(LONG);
	say("nobody is told", rung == 0 && getitimer(which, &was) == 0 &&
		was.it_value.tv_usec == 0);
}

static void
timers(void)
{
	struct itimerval t = {{0, 0}, {0, 1000000}};

	timer("ITIMER_VIRTUAL", ITIMER_VIRTUAL, SIGVTALRM);
	timer("ITIMER_PROF", ITIMER_PROF, SIGPROF);
	say("a second of microseconds is none", setitimer(ITIMER_PROF, &t, NULL) != 0);
	say("there is no fourth", syscall(SYS_setitimer, 3, &t, NULL) != 0 &&
		syscall(SYS_getitimer, 3, &t) != 0 && syscall(SYS_setitimer, -1, &t, NULL) != 0);
}

/* It says nothing at its end, and computes no more in its place. */
static void
ends_by_another(void)
{
	compute(LONG);
	if (fork() == 0) {
		kill(getppid(), SIGKILL);
		_exit(0);
	}
	for (;;)
		pause();
}

static void
ends_by_a_timer(void)
{
	struct itimerval t = {{0, 0}, {0, LONG / 1000}};

	signal(SIGPROF, SIG_DFL);
	setitimer(ITIMER_PROF, &t, NULL);
	for (;;)
		continue;
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
	if (argc > 1 && strcmp(argv[1], "timers") == 0)
		has_timers();
	threads();
	others_are_told();
	timers();
	of_parent = now(CLOCK_PROCESS_CPUTIME_ID);
	child("a child computes", computes, 7 << 8);
	child("a child computes without a call", computes_at_once, 7 << 8);
	child("a child has a child that computes", has_a_child, 7 << 8);
	child("a child ends by a signal", ends_by_a_signal, SIGTERM);
	child("a child is ended by another", ends_by_another, SIGKILL);
	child("a child ends by a timer", ends_by_a_timer, SIGPROF);
	child("a child becomes another program", becomes_another, 7 << 8);
	child("a child with timers becomes another program", sets_timers, 7 << 8);
	printf("ok times\n");
	return 0;
}
