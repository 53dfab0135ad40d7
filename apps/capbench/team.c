/* SPDX-License-Identifier: MIT
 *
 * Global master, local masters, slaves: see team.h. A rank's cluster is known by
 * MPI_Get_processor_name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "team.h"

#define NAME_BYTES 32

void *
team_alloc(size_t bytes)
{
	void *p = malloc(bytes > 0 ? bytes : 1);

	if (p == NULL) {
		fprintf(stderr, "out of memory: %zu bytes\n", bytes);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return p;
}

static char *
place_names(int ranks)
{
	char place[MPI_MAX_PROCESSOR_NAME] = "", own[NAME_BYTES] = "";
	char *names = team_alloc((size_t)ranks * NAME_BYTES);
	int len;

	MPI_Get_processor_name(place, &len);
	snprintf(own, sizeof(own), "%.*s", NAME_BYTES - 1, place);
	MPI_Allgather(own, NAME_BYTES, MPI_CHAR, names, NAME_BYTES, MPI_CHAR, MPI_COMM_WORLD);
	return names;
}

/* First worker of the same cluster. */
static int
local_master_of(const char *names, int ranks, int rank)
{
	int first = ranks > 1 ? 1 : 0;

	for (int i = first; i < rank; i++)
		if (strncmp(names + i * NAME_BYTES, names + rank * NAME_BYTES, NAME_BYTES) == 0)
			return i;
	return rank;
}

static void
list_masters(struct team *t, const char *names)
{
	t->master = team_alloc((size_t)t->ranks * sizeof(*t->master));
	t->workers = team_alloc((size_t)t->ranks * sizeof(*t->workers));
	for (int i = t->ranks > 1 ? 1 : 0; i < t->ranks; i++) {
		int master = local_master_of(names, t->ranks, i), m = 0;

		while (m < t->masters && t->master[m] != master)
			m++;
		if (m == t->masters) {
			t->master[t->masters] = master;
			t->workers[t->masters++] = 0;
		}
		t->workers[m]++;
	}
}

void
team_make(struct team *t)
{
	char *names;
	int color;

	memset(t, 0, sizeof(*t));
	MPI_Comm_rank(MPI_COMM_WORLD, &t->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &t->ranks);
	names = place_names(t->ranks);
	t->is_global_master = t->rank == 0;
	if (t->is_global_master)
		list_masters(t, names);
	color = t->is_global_master && t->ranks > 1 ? t->ranks :
		local_master_of(names, t->ranks, t->rank);
	t->is_local_master = color == t->rank;
	MPI_Comm_split(MPI_COMM_WORLD, color, t->rank, &t->local);
	MPI_Comm_rank(t->local, &t->local_rank);
	MPI_Comm_size(t->local, &t->local_ranks);
	free(names);
}

void
team_free(struct team *t)
{
	MPI_Comm_free(&t->local);
	free(t->master);
	free(t->workers);
}

long
team_part(long total, long parts, long index, long *first)
{
	long size = total / parts, rest = total % parts;

	*first = index * size + (index < rest ? index : rest);
	return size + (index < rest);
}

const char *
team_text(int argc, char **argv, const char *name)
{
	for (int i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return argv[i + 1];
	return NULL;
}

long
team_number(int argc, char **argv, const char *name, long otherwise)
{
	const char *text = team_text(argc, argv, name);
	char *end;
	long value;

	if (text == NULL)
		return otherwise;
	value = strtol(text, &end, 10);
	if (*text != '\0' && *end == '\0')
		return value;
	fprintf(stderr, "%s needs a number, not '%s'\n", name, text);
	MPI_Abort(MPI_COMM_WORLD, 2);
	return otherwise;
}

void
team_usage(const struct team *t, const char *text)
{
	if (t->rank == 0)
		fputs(text, stderr);
	MPI_Finalize();
	exit(2);
}
