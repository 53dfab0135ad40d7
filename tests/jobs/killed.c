/* SPDX-License-Identifier: MIT
 *
 * Processes are killed at random times: while they fork, start programs, write and read pipes and
 * sockets, make, rename and remove files, share memory, send messages and signals. All that they
 * have begun ends, and nothing of them is left. Nothing here knows of Atoll.
 * usage: killed [SEED [ROUNDS [ACTIVITY]]]
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "draw.h"
#include "unaware.h"

#define ROUNDS 60
#define WARM 12		/* the first, which live long: servers keep what they have made for them */
#define WARM_NS 30000000
#define LONGEST_NS 8000000
#define PATIENCE 200000
#define QUICK "quick"
#define BLOCK 5000
#define PAGES 3
#define PAGE 4096
#define FOLDER "killed.d"

static char large[40 * PAGE];
static char own[64], other[64];		/* names of files */

/* --- what they do until they are killed; their children end by themselves then --- */

static void
take_ends(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		continue;
}

static _Noreturn void
fork_on(void)
{
	int ends[2];

	for (uint32_t n = 0;; n++) {
		pid_t pid;

		large[n % sizeof(large)]++;
		if (pipe(ends) != 0)
			_exit(1);
		pid = fork();
		if (pid == 0) {
			large[n * PAGE % sizeof(large)]++;
			write(ends[1], "x", 1);
			_exit(0);
		}
		close(ends[1]);
		if (n % 2 == 0)
			read(ends[0], &(char){0}, 1);
		close(ends[0]);
		if (pid < 0)
			wait(NULL);
		take_ends();
	}
}

static _Noreturn void
start_on(void)
{
	char *const args[] = {"killed", QUICK, NULL};

	for (pid_t pid;;) {
		if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, args, args + 2) != 0)
			wait(NULL);
		take_ends();
	}
}

/* Blocks go through a pipe, of which each is whole. */
static _Noreturn void
pipe_on(void)
{
	int ends[2];

	if (pipe(ends) != 0)
		_exit(1);
	memset(large, 'p', BLOCK);
	if (fork() == 0) {
		close(ends[1]);
		while (read(ends[0], large + BLOCK, BLOCK) > 0)
			if (large[BLOCK] != 'p')
				abort();
		_exit(0);
	}
	close(ends[0]);
	while (write(ends[1], large, BLOCK) == BLOCK)
		continue;
	_exit(1);
}

static int
entries(void)
{
	DIR *d = opendir(FOLDER);
	int n = 0;

	while (d != NULL && readdir(d) != NULL)
		n++;
	if (d != NULL)
		closedir(d);
	return n;
}

static _Noreturn void
files_on(void)
{
	for (;;) {
		int fd = open(own, O_RDWR | O_CREAT | O_APPEND, 0600);

		if (fd < 0 || write(fd, large, BLOCK) != BLOCK || rename(own, other) != 0 ||
			ftruncate(fd, 100) != 0 || write(fd, "end", 3) != 3 || entries() < 3 ||
			lseek(fd, -3, SEEK_END) != 100 || read(fd, large, 10) != 3)
			_exit(1);
		close(fd);
		unlink(other);
	}
}

/* Two write to the same memory, each in a word of its own. */
static _Noreturn void
share_on(void)
{
	for (uint32_t n = 1;; n++) {
		int fd = open(own, O_RDWR | O_CREAT, 0600);
		volatile uint32_t *m = MAP_FAILED;

		if (fd >= 0 && ftruncate(fd, PAGES * PAGE) == 0)
			m = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (m == MAP_FAILED)
			_exit(1);
		if (fork() == 0) {
			m[PAGE / 2] = n;
			_exit(0);
		}
		m[0] = n;
		wait(NULL);
		if (m[PAGE / 2] != n)
			abort();
		munmap((void *)m, PAGES * PAGE);
		close(fd);
	}
}

static volatile sig_atomic_t signals;

static void
count_signal(int sig)
{
	(void)sig;
	signals++;
}

static _Noreturn void
signal_on(void)
{
	pid_t self = getpid();
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	signal(SIGUSR1, count_signal);
	if (fork() == 0)
		while (getppid() == self && kill(self, SIGUSR1) == 0)
			sched_yield();
	else
		for (;;) {
			sigprocmask(SIG_BLOCK, &set, NULL);
			kill(self, SIGUSR2 - SIGUSR2);
			sigprocmask(SIG_UNBLOCK, &set, NULL);
			getppid();
		}
	_exit(0);
}

typedef void activity(void);

static activity *const activities[] = {fork_on, start_on, pipe_on, files_on, share_on, signal_on};

#define ACTIVITIES (sizeof(activities) / sizeof(activities[0]))

/* One that is killed, and whose children are nobody's then. */
static void
kill_one(int fd, uint32_t what, long ns)
{
	const struct timespec span = {.tv_nsec = ns};
	int status = 0, ready[2];
	char c = 0;
	pid_t pid;

	expect(pipe2(ready, O_CLOEXEC), 0, "a pipe");
	pid = fork();
	if (pid == 0) {
		write(fd, "y", 1);
		write(ready[1], "x", 1);
		activities[what]();
	}
	close(ready[1]);
	expect(pid > 0, 1, "fork");
	expect(read(ready[0], &c, 1), 1, "it has begun");
	nanosleep(&span, NULL);
	expect(kill(pid, SIGKILL), 0, "kill");
	expect(waitpid(pid, &status, 0), pid, "its end");
	expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, 1, "of what");
	/* those that its children are have that end, too */
	expect(read(ready[0], &c, 1), 0, "the end of all");
	close(ready[0]);
	unlink(own);
	unlink(other);
}

static unsigned long
now(unsigned *procs)
{
	struct sysinfo s;

	sysinfo(&s);
	*procs = s.procs;
	return s.freeram;
}

/* On Linux others change what there is. */
static void
await(unsigned long memory, unsigned count)
{
	struct utsname u;
	unsigned procs = 0;

	uname(&u);
	if (strcmp(u.sysname, "Linux") == 0)
		return;
	for (int i = 0; i < PATIENCE && (now(&procs) < memory || procs > count); i++)
		sched_yield();
	if (now(&procs) < memory)
		expect((long)(memory - now(&procs)), 0, "pages that are not free again");
	expect(procs, count, "processes");
}

int
main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : ROUNDS, fd;
	unsigned long memory = 0;
	unsigned procs = 0;

	if (argc > 1 && strcmp(argv[1], QUICK) == 0)
		return 0;
	state = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	mkdir(FOLDER, 0700);
	fd = open(FOLDER "/all", O_RDWR | O_CREAT | O_TRUNC, 0600);
	expect(fd >= 0, 1, "a file");
	now(&procs);
	for (int i = 0; i < rounds + WARM; i++) {
		if (i == WARM) {
			await(0, procs);
			memory = now(&(unsigned){0});
		}
		snprintf(own, sizeof(own), FOLDER "/%d", i);
		snprintf(other, sizeof(other), FOLDER "/%d.other", i);
		kill_one(fd, argc > 3 ? (uint32_t)atoi(argv[3]) : i < WARM ?
			(uint32_t)i % ACTIVITIES : draw(ACTIVITIES),
			i < WARM ? WARM_NS : draw(LONGEST_NS));
	}
	await(memory, procs);
	expect(lseek(fd, 0, SEEK_CUR), rounds + WARM, "what all have written");
	unlink(FOLDER "/all");
	expect(entries(), 2, "files that are left");
	rmdir(FOLDER);
	return verdict("killed");
}
