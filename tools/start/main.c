/* SPDX-License-Identifier: MIT
 *
 * atoll-start [--why] TREE run ARG...: ./atoll run, quickly. If the front command has run the same
 * before and nothing that it hangs on has changed, start the machine as it did; else become it.
 * --why: only say whether.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "watch.h"

#define PATH_BYTES 4096

/* The front command, with Python's start, for whatever it is. */
static int
become_front(const char *here, int argc, char **args)
{
	char path[PATH_BYTES];
	char **argv = calloc((size_t)argc + 3, sizeof(*argv));

	if (argv == NULL || snprintf(path, sizeof(path), "%s/atoll", here) >= (int)sizeof(path))
		return 1;
	argv[0] = path;
	argv[1] = "--front";
	memcpy(argv + 2, args, (size_t)argc * sizeof(*argv));
	execv(path, argv);
	fprintf(stderr, "atoll: %s: %s\n", path, strerror(errno));
	return 1;
}

/*
 * A machine without standard input reads nothing; what lacks another stream is the front command's.
 */
static int
check_streams(struct prepared *p)
{
	if (fcntl(STDIN_FILENO, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != STDIN_FILENO)
		return -1;
	if (fcntl(STDOUT_FILENO, F_GETFD) >= 0 && fcntl(STDERR_FILENO, F_GETFD) >= 0)
		return 0;
	snprintf(p->why, sizeof(p->why), "standard output or error is closed");
	return -1;
}

int
main(int argc, char **argv)
{
	static struct prepared p;
	int asked = argc > 1 && strcmp(argv[1], "--why") == 0;
	int quick;

	argc -= 1 + asked;
	argv += 1 + asked;
	if (argc < 2) {
		fputs("usage: atoll-start [--why] TREE run ARG...\n", stderr);
		return 2;
	}
	quick = check_streams(&p) == 0 && prepared_load(&p, argv[0], argv + 1) == 0;
	if (asked) {
		puts(quick ? "quick" : p.why);
		return !quick;
	}
	return quick ? watch_machine(&p, argv + 1) : become_front(argv[0], argc - 1, argv + 1);
}
