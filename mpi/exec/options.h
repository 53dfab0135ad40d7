/* SPDX-License-Identifier: MIT
 *
 * What the command line of mpiexec asks for.
 */
#ifndef MPI_EXEC_OPTIONS_H
#define MPI_EXEC_OPTIONS_H

#include <stdbool.h>

#define APPS_MAX 256
#define SETTINGS_MAX 256
#define RANKS_MAX 4096

/* One program and the ranks that run it. */
struct app {
	char **argv;			/* ends with NULL; points into the command line */
	int ranks;
	/* names of the variables that it gets from our environment, with commas; NULL: all */
	const char *list;
	const char *wdir;		/* NULL: where mpiexec was started */
	char *settings[SETTINGS_MAX];	/* NAME=VALUE for its environment */
	int settings_count;
};

enum bind { BIND_IF_FREE, BIND_CORE, BIND_NONE };
enum map { MAP_CORE, MAP_SOCKET };
enum on_deadlock { DEADLOCK_END, DEADLOCK_REPORT, DEADLOCK_IGNORE };
enum unit { UNIT_NODE, UNIT_SOCKET, UNIT_CORE };
enum { INPUT_ALL = -1, INPUT_NONE = -2 };

struct options {
	struct app *apps;
	int apps_count;
	int ranks;			/* of all apps */
	enum bind bind;
	enum map map;
	bool oversubscribe;
	bool tag;
	bool report;			/* say where ranks are bound */
	bool quiet;			/* no remarks */
	int input;			/* the rank that reads standard input, or one of below */
	int timeout_s;			/* 0: none */
	enum on_deadlock deadlock;
};

/*
 * Read the command line (argv stays in use). Ends the process for --help and --version (status 0)
 * and for bad usage (one line, 2).
 */
void options_read(struct options *o, int argc, char **argv);

#endif
