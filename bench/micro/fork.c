/* SPDX-License-Identifier: MIT
 *
 * fork: a process with some memory, all of which it has written to, forks; its child ends at once,
 * and its end is taken. usage: fork [--rounds N] [--kb N]. Windows: label 16: all of it; 17: until
 * fork returns in the parent. The program executes itself first: what a request has started has a
 * stack that comes when it is touched.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <hal/perf.h>
#include "micro.h"

#define PAGE 4096
#define AGAIN "again"

/* fork is over when it is over in the parent: the child is another process. */
static void
fork_once(bool all)
{
	int status = -1;
	pid_t pid;

	hal_mark(all ? LABEL : LABEL + 1);
	hal_mark(MARK_BEGIN);
	pid = fork();
	if (pid == 0)
		_exit(3);
	if (!all)
		hal_mark(MARK_END);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 3)
		exit(1);
	if (all)
		hal_mark(MARK_END);
}

static void
write_all(char *memory, long kb)
{
	for (long at = 0; at < kb * 1024; at += PAGE)
		memory[at]++;
}

int
main(int argc, char **argv)
{
	long rounds = number(argc, argv, "--rounds", 3), kb = number(argc, argv, "--kb", 1024);
	char *memory = NULL, **again = calloc((size_t)argc + 2, sizeof(*again));

	if (argc == 1 || strcmp(argv[argc - 1], AGAIN) != 0) {
		memcpy(again, argv, (size_t)argc * sizeof(*again));
		again[argc] = AGAIN;
		execv("/proc/self/exe", again);
		return 1;
	}
	if (kb > 0)
		memory = mmap(NULL, (size_t)kb * 1024, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (long i = 0; i < rounds; i++) {
		write_all(memory, kb);
		fork_once(true);
		write_all(memory, kb);
		fork_once(false);
	}
	return 0;
}
