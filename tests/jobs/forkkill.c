/* SPDX-License-Identifier: MIT
 *
 * Processes that fork without end are killed at random times: with pipes and files open, while
 * children run, write, or are being made. All of these end, and nothing of them is left. Nothing
 * here knows of Atoll. usage: forkkill [SEED [ROUNDS]]
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "unaware.h"

#define ROUNDS 40
#define WARM 8
#define LONGEST_NS 8000000
#define PATIENCE 2000000

static char large[40 * 4096];
static uint64_t state;

static uint32_t
draw(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

/* Until it is killed. */
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
			large[n * 4096 % sizeof(large)]++;
			write(ends[1], "x", 1);
			_exit(0);
		}
		close(ends[1]);
		if (n % 2 == 0)
			read(ends[0], &(char){0}, 1);
		close(ends[0]);
		if (pid < 0)
			wait(NULL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			continue;
	}
}

/* One that is killed, and whose children are nobody's then. */
static void
kill_one(int fd)
{
	const struct timespec span = {.tv_nsec = draw(LONGEST_NS)};
	int status = 0, ready[2];
	char c = 0;
	pid_t pid;

	expect(pipe2(ready, O_CLOEXEC), 0, "a pipe");
	pid = fork();
	if (pid == 0) {
		write(ready[1], "x", 1);
		write(fd, "y", 1);
		fork_on();
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
	expect(now(&procs) >= memory, 1, "memory that is free again");
	expect(procs, count, "processes");
}

int
main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : ROUNDS, fd;
	unsigned long memory = 0;
	unsigned procs = 0;

	state = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	mkdir("/tmp", 0777);
	fd = open("/tmp/forkkill", O_RDWR | O_CREAT | O_TRUNC, 0600);
	expect(fd >= 0, 1, "a file");
	now(&procs);
	for (int i = 0; i < rounds + WARM; i++) {
		if (i == WARM) {
			await(0, procs);
			memory = now(&(unsigned){0});
		}
		kill_one(fd);
	}
	await(memory, procs);
	expect(lseek(fd, 0, SEEK_CUR), rounds + WARM, "what all have written");
	unlink("/tmp/forkkill");
	return verdict("forkkill");
}
