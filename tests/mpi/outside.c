/* SPDX-License-Identifier: MIT
 *
 * Every function that needs an open library says so before MPI_Init and after MPI_Finalize: it
 * returns MPI_ERR_OTHER where the initial error handler is the one that returns, and else ends the
 * job with one line that names it. The calls are generated from the function table.
 *
 * usage: outside [before N | after N | each]. N: the function at N percent, which ends the job.
 * each: all of them, each in a process of its own.
 */
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

struct outside {
	const char *function;
	int (*call)(void);
};

#include <mpi_outside.h>

#define COUNT (sizeof(outsides) / sizeof(outsides[0]))
#define BEFORE \
	" was called before MPI_Init: call MPI_Init, MPI_Init_thread or MPI_Session_init first\n"
#define AFTER " was called after MPI_Finalize: that must be the program's last call of MPI\n"

static void
all_return(struct check *c, const char *when)
{
	for (size_t i = 0; i < COUNT; i++) {
		int code = outsides[i].call();

		if (check_class(code) != MPI_ERR_OTHER)
			check_fail(c, "%s %s: class %d", outsides[i].function, when,
				check_class(code));
	}
}

/* What a process says that calls it, and how it ends. */
static int
say(const struct outside *x, char *text, size_t room)
{
	int ends[2], status;
	size_t got = 0;
	ssize_t n;
	pid_t child;

	if (pipe(ends) != 0 || (child = fork()) < 0)
		return -1;
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		x->call();
		_exit(0);
	}
	close(ends[1]);
	while (got + 1 < room && (n = read(ends[0], text + got, room - 1 - got)) > 0)
		got += (size_t)n;
	text[got] = '\0';
	close(ends[0]);
	waitpid(child, &status, 0);
	return status;
}

static void
each_ends(struct check *c, const char *words)
{
	char expected[200], text[1000];

	for (size_t i = 0; i < COUNT; i++) {
		int status = say(&outsides[i], text, sizeof(text));

		snprintf(expected, sizeof(expected), "MPI rank %d: %s%s", c->rank,
			outsides[i].function, words);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 1 || strcmp(text, expected) != 0)
			check_fail(c, "%s: status %#x, said: %s", outsides[i].function,
				(unsigned)status, text);
	}
}

static int
one_ends(char **argv)
{
	const struct outside *x = &outsides[(COUNT - 1) * (size_t)atoi(argv[2]) / 100];

	if (strcmp(argv[1], "after") == 0) {
		MPI_Init(NULL, NULL);
		MPI_Finalize();
	}
	x->call();
	printf("%s went on\n", x->function);
	return 0;
}

int
main(int argc, char **argv)
{
	struct check c = {0};
	int each = argc > 1 && strcmp(argv[1], "each") == 0;

	if (argc > 2)
		return one_ends(argv);
	if (each)
		each_ends(&c, BEFORE);
	else
		setenv("ATOLL_MPI_ERRHANDLER", "mpi_errors_return", 1);
	if (!each)
		all_return(&c, "before MPI_Init");
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
	MPI_Finalize();
	if (each)
		each_ends(&c, AFTER);
	else
		all_return(&c, "after MPI_Finalize");
	if (c.rank == 0 && c.errors == 0)
		printf("No errors\n");
	return c.errors != 0;
}
