/* SPDX-License-Identifier: MIT
 *
 * Processes are moved to other cores while they compute: by what is written to /proc/N/ctl, by
 * execac and by rfork. On any machine of one cluster or more whose cluster 0 has several cores.
 *
 * usage: moves | moves ranks | moves many [SEED [MOVES]] | moves began FAULTS ROLE
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <abi/layout.h>
#include <atoll/execac.h>
#include <atoll/kcalls.h>
#include "draw.h"
#include "expect.h"

#define PROCESSES 4
#define MOVES 1000
#define WARM 200		/* moves until all that servers keep is there */
#define STACK_USED (40 * 1024)
#define DATA (64 * 1024)
#define PAGE 4096
#define ENOUGH 8
#define PATIENCE_S 20

static volatile unsigned char data[DATA];
static struct cluster_info here;

/* --- cores --- */

/* The core that the caller runs on; it has no call that could move it. */
static uint32_t
own_core(void)
{
	struct cluster_info info;

	kcluster_info(&info);
	return info.core;
}

static uint32_t
role_of(uint32_t core)
{
	struct core_info info = {0};

	kcore_info((int)core, &info);
	return info.role;
}

static int
core_with(uint32_t role)
{
	for (uint32_t i = 0; i < here.cores; i++)
		if (role_of(i) == role)
			return (int)i;
	return -1;
}

static int
ctl_open(long pid, int how)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%ld/ctl", pid);
	return open(path, how);
}

/* 0, or errno. */
static int
tell(long pid, const char *text)
{
	int fd = ctl_open(pid, O_WRONLY | O_TRUNC), result = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		result = errno;
	close(fd);
	return result;
}

static int
tell_core(long pid, int core)
{
	char text[32];

	snprintf(text, sizeof(text), "core %d\n", core);
	return tell(pid, text);
}

static bool
says(long pid, int core)
{
	char text[32] = "", want[32] = "core any\n";
	int fd = ctl_open(pid, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	close(fd);
	if (core >= 0)
		snprintf(want, sizeof(want), "core %d\n", core);
	return n >= 0 && strcmp(text, want) == 0;
}

static bool
give_role(int core, const char *role)
{
	char text[32];
	int fd = open("/dev/cores", O_WRONLY);
	int len = snprintf(text, sizeof(text), "core %d role %s\n", core, role);
	bool is_given = fd >= 0 && write(fd, text, (size_t)len) == len;

	close(fd);
	return is_given;
}

/* --- what is moved --- */

static uint64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Integers and floating-point numbers; the same for the same seed. */
static uint32_t
compute(uint32_t seed, unsigned steps)
{
	double x = 1 + seed % 7;

	for (unsigned i = 0; i < steps; i++) {
		seed = seed * 1664525 + 1013904223;
		x = x / 3 + (seed >> 28);
	}
	return seed ^ (uint32_t)(x * 1000);
}

/*
 * Computes until the word of the pipe comes, and says where it is whenever that changes. 0: all its
 * sums were right.
 */
static _Noreturn void
computes_until(int in, int out, uint32_t seed)
{
	uint32_t want = compute(seed, 500), core = UINT32_MAX;
	int status = 0;
	char word;

	fcntl(in, F_SETFL, O_NONBLOCK);
	for (unsigned i = 0; status == 0; i++) {
		if (compute(seed, 500) != want)
			status = 1;
		if (own_core() != core && out >= 0) {
			unsigned char said = (unsigned char)(core = own_core());

			if (write(out, &said, 1) != 1)
				status = 2;
		}
		if (i % 16 == 0 && read(in, &word, 1) == 1)
			_exit(status);
	}
	_exit(status);
}

struct child {
	int pid;
	int in, out;		/* ends of pipes to it */
};

static struct child
begin(uint32_t seed, bool says_where)
{
	int in[2], out[2];
	struct child c;

	if (pipe(in) != 0 || pipe(out) != 0)
		exit(3);
	c = (struct child){fork(), in[1], out[0]};
	if (c.pid == 0)
		computes_until(in[0], says_where ? out[1] : -1, seed);
	close(in[0]);
	close(out[1]);
	return c;
}

static int
end(struct child c, bool kills)
{
	int status = -1;

	if (kills)
		kill(c.pid, SIGKILL);
	else if (write(c.in, "x", 1) != 1)
		return -2;
	waitpid(c.pid, &status, 0);
	close(c.in);
	close(c.out);
	return status;
}

/* Until it says that it is there. */
static void
arrives(struct child c, int core)
{
	unsigned char at = 255;

	while (at != core)
		if (read(c.out, &at, 1) != 1)
			at = (unsigned char)core, failures++;
}

static void
there_and_back(int ac, int tc)
{
	struct child c = begin(7, true);

	expect(says(c.pid, -1), true, "at first any");
	for (int i = 0; i < 3; i++) {
		expect(tell_core(c.pid, ac), 0, "to an application core");
		arrives(c, ac);
		expect(tell_core(c.pid, tc), 0, "to a time-sharing core");
		arrives(c, tc);
	}
	expect(says(c.pid, tc), true, "where it is");
	expect(tell(c.pid, "core any"), 0, "anywhere");
	expect(says(c.pid, -1), true, "any again");
	expect(tell(c.pid, "core -1"), 0, "to any application core");
	expect(tell(c.pid, "core 0\n"), 0, "to any time-sharing core");
	expect(end(c, false), 0, "its sums");
}

static void
wrong_wishes(int ac)
{
	struct child c = begin(8, false), other = begin(9, false);

	expect(tell(c.pid, "core"), EINVAL, "no number");
	expect(tell(c.pid, "core one"), EINVAL, "no number");
	expect(tell(c.pid, "role 1"), EINVAL, "another word");
	expect(tell(c.pid, "core 1 2"), EINVAL, "two numbers");
	expect(tell(c.pid, "core 9999"), ENODEV, "no such core");
	expect(tell_core(c.pid, (int)(here.first_core + here.cores)), ENODEV, "another cluster's");
	expect(tell(c.pid, ""), 0, "nothing");
	expect(tell_core(c.pid, ac), 0, "to an application core");
	expect(tell_core(other.pid, ac), EBUSY, "which another one has");
	expect(tell_core(c.pid, ac), 0, "where it is");
	expect(end(c, true), SIGKILL, "killed");
	expect(tell_core(other.pid, ac), 0, "which is free again");
	expect(tell_core(c.pid, ac), ENOENT, "one that has ended");
	expect(end(other, false), 0, "the sums of another one");
	expect(tell(999999, "core 1"), ENOENT, "no process");
}

/* One that ends while its file is open. */
static void
ends_meanwhile(void)
{
	struct child c = begin(8, false);
	int fd = ctl_open(c.pid, O_RDWR);

	expect(fd >= 0, true, "open");
	expect(end(c, true), SIGKILL, "killed");
	expect(write(fd, "core 0", 6), -1, "no process any more");
	expect(errno, ESRCH, "no process any more");
	close(fd);
}

static volatile sig_atomic_t noted;

static void
note(int sig)
{
	(void)sig;
	noted = 1;
}

#define HAS_HEARD 42

/* Computes on that core, and calls nobody, until a signal's handler has run there. */
static _Noreturn void
hears(int core, int out)
{
	signal(SIGUSR1, note);
	while (own_core() != (uint32_t)core)
		compute(1, 500);
	if (write(out, "x", 1) != 1)
		_exit(1);
	while (!noted)
		compute(1, 500);
	_exit(own_core() == (uint32_t)core ? HAS_HEARD : 2);
}

/* A process that computes on an application core is sent a signal. */
static void
signal_reaches(int ac)
{
	int out[2], status = -1;
	pid_t pid;
	char c;

	expect(pipe(out), 0, "a pipe");
	pid = fork();
	if (pid == 0)
		hears(ac, out[1]);
	expect(tell_core(pid, ac), 0, "to an application core");
	expect(read(out[0], &c, 1), 1, "it is there");
	expect(kill(pid, SIGUSR1), 0, "a signal");
	waitpid(pid, &status, 0);
	expect(WIFEXITED(status) ? WEXITSTATUS(status) : -1, HAS_HEARD, "its handler ran there");
	close(out[0]);
	close(out[1]);
}

/* --- rfork and execac --- */

static uint32_t
faults(void)
{
	struct thread_counts c = {0};

	while (kthread_stats((int)kthread_self(), 0, &c) == -E_AGAIN)
		continue;
	return c.faults;
}

static __attribute__((noinline)) unsigned
use_stack(void)
{
	volatile unsigned char stack[STACK_USED];

	__asm__ volatile("" : : "r"(stack) : "memory");	/* it is all there */
	for (unsigned i = 0; i < STACK_USED; i += PAGE)
		stack[i] = (unsigned char)i;
	return stack[STACK_USED - PAGE];
}

static void
use_memory(void)
{
	use_stack();
	for (unsigned i = 0; i < DATA; i += PAGE)
		data[i]++;
}

/* What a program finds that was begun so: are there faults, and is the role of its core right? */
static int
began(const char *has_faults, const char *role)
{
	uint32_t before = faults(), after;

	use_memory();
	after = faults();
	expect(after > before, has_faults[0] == '1', "faults");
	expect(role_of(own_core()), atol(role), "the role of its core");
	return failures;
}

static int
status_of(int pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

static void
programs_begin(int ac)
{
	char role[8], *args[] = {"moves", "began", "0", role, NULL};
	int pid = fork();

	snprintf(role, sizeof(role), "%d", ROLE_AC);
	if (pid == 0) {
		args[2] = "1";
		expect(rfork(RFCORE), 0, "rfork");
		execv("/proc/self/exe", args);
		_exit(9);
	}
	expect(status_of(pid), 0, "exec stays on the core, with faults");
	for (int i = 0; i < 3; i++) {
		pid = fork();
		if (pid == 0) {
			rfork(i == 0 ? RFCORE : RFCCORE);
			execac(i == 0 ? 0 : i == 1 ? -1 : ac, "/proc/self/exe", args);
			_exit(9);
		}
		expect(status_of(pid), 0, "execac");
	}
	expect(execac(9999, "/proc/self/exe", args), -ENODEV, "no such core");
	expect(execac(0, "/no/such", args), -ENOENT, "no such program");
	expect(execac(0, (const char *)16, args), -EFAULT, "a bad address");
}

static void
processes_fork(void)
{
	int pid;
	uint32_t before;

	expect(rfork(1), -EINVAL, "another flag of Plan 9");
	expect(rfork(1u << 16), -EINVAL, "RFCPREPAGE");
	expect(rfork(RFCORE | RFCCORE), -EINVAL, "both ways");
	expect(rfork(0), 0, "nothing");
	expect(rfork(RFCORE), 0, "to an application core");
	while (role_of(own_core()) != ROLE_AC)
		continue;
	expect(rfork(RFCCORE), 0, "to a time-sharing core");
	while (role_of(own_core()) != ROLE_TC)
		continue;
	pid = rfork(RFPROC | RFCORE | RFPREPAGE);
	if (pid == 0) {
		before = faults();
		use_memory();
		expect(faults() - before, 0, "faults of the child");
		expect(role_of(own_core()), ROLE_AC, "the child's core");
		_exit(failures);
	}
	expect(role_of(own_core()), ROLE_TC, "the parent's core");
	expect(status_of(pid), 0, "the child");
	pid = fork();
	if (pid == 0) {
		before = faults();
		use_memory();
		_exit(faults() - before < ENOUGH);
	}
	expect(status_of(pid), 0, "a child of fork has faults");
	expect(tell(getpid(), "core any"), 0, "itself");
}

/* --- many --- */


static void
move_any(int pid)
{
	int core = (int)draw(here.cores + 2) - 1, result;

	result = core == (int)here.cores ? tell(pid, "core any") : tell_core(pid, core);
	if (result != 0 && result != EBUSY)
		expect(result, 0, "a move");
}

static uint64_t
free_frames(void)
{
	uint64_t n = 0;

	kstats(STATS_FRAMES_FREE, &n);
	return n;
}

static int
many(uint64_t seed, unsigned moves)
{
	struct child c[PROCESSES];
	uint64_t free = 0, began_ms = now_ms();
	unsigned killed = 0;

	state = seed;
	printf("seed %lu\n", (unsigned long)seed);
	for (unsigned i = 0; i < PROCESSES; i++)
		c[i] = begin(i + 1, false);
	for (unsigned n = 0; n < moves + WARM; n++) {
		unsigned i = draw(PROCESSES);

		if (n == WARM)
			free = free_frames();
		move_any(c[i].pid);
		if (draw(10) == 0)
			expect(give_role(1 + (int)draw(here.cores - 1), draw(2) ? "ac" : "tc"),
				true, "a role");
		if (draw(20) == 0) {
			move_any(c[i].pid);
			expect(end(c[i], true), SIGKILL, "killed");
			c[i] = begin(i + 1, false);
			killed++;
		}
	}
	/* as many processes as when the memory was counted */
	if (free_frames() + ENOUGH < free)
		expect((long)free_frames(), (long)free, "memory that is free");
	for (unsigned i = 0; i < PROCESSES; i++)
		expect(end(c[i], false), 0, "the sums");
	printf("%u moves, %u killed, %u ms\n", moves + WARM + killed, killed,
		(unsigned)(now_ms() - began_ms));
	return verdict();
}

int
main(int argc, char **argv)
{
	int ac, tc;

	kcluster_info(&here);
	signal(SIGPIPE, SIG_IGN);
	if (argc > 3 && strcmp(argv[1], "began") == 0)
		return began(argv[2], argv[3]);
	if (argc > 1 && strcmp(argv[1], "ranks") == 0) {
		expect(tell(getpid(), "core 0"), EPERM, "one of several ranks");
		return verdict();
	}
	if (argc > 1)
		return many(argc > 2 ? strtoull(argv[2], NULL, 0) : now_ms(),
			argc > 3 ? (unsigned)atoi(argv[3]) : MOVES);
	/* core 0 the servers need */
	tc = give_role((int)here.cores - 1, "tc") ? (int)here.cores - 1 : -1;
	ac = core_with(ROLE_AC);
	if (ac < 0 || tc < 0) {
		printf("FAIL rank 0: no two roles\n");
		return 1;
	}
	there_and_back(ac, tc);
	wrong_wishes(ac);
	ends_meanwhile();
	signal_reaches(ac);
	processes_fork();
	programs_begin(ac);
	return verdict();
}
