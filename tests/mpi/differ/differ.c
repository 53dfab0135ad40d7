/* SPDX-License-Identifier: MIT
 *
 * usage: differ SEED [steps=N] [only=N,N,...] [most=MESSAGES] [bytes=N] [kind=NAME] [-v]
 *
 * Rank 0 prints a line per step: its number, its kind, and each rank's sum of what it saw.
 * tests/process/test_differ.py compares the lines of several libraries and makes a difference
 * small.
 */
#include "differ.h"

#define BUFFERED(bytes) ((int)(40 * (bytes)) + 200000)
#define KINDS ((int)(sizeof(kinds) / sizeof(*kinds)))

static const struct {
	const char *name;
	int weight;
	void (*run)(struct differ *d, struct dice *dice);
} kinds[] = {
	{"exchange", 8, step_exchange},
	{"wild", 2, step_wild},
	{"around", 3, step_around},
	{"short", 1, step_short},
	{"pack", 2, step_pack},
	{"collectives", 8, step_collectives},
	{"mixed", 3, step_mixed},
	{"reductions", 5, step_reductions},
	{"neighbors", 4, step_neighbors},
	{"groups", 2, step_groups},
	{"comms", 2, step_comms},
	{"topologies", 2, step_topologies},
	{"types", 2, step_types},
};

/* Maps x -> a x + b, one after the other. */
static void
compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
	const uint32_t *x = in;
	uint32_t *y = inout;

	(void)type;
	for (int i = 0; i < 2 * *len; i += 2) {
		y[i + 1] = x[i] * y[i + 1] + x[i + 1];
		y[i] = x[i] * y[i];
	}
}

/* Pairs of numbers with a gap after them. */
static void
add(void *in, void *inout, int *len, MPI_Datatype *type)
{
	const uint32_t *x = in;
	uint32_t *y = inout;

	(void)type;
	for (int i = 0; i < *len; i++) {
		y[4 * i] += x[4 * i];
		y[4 * i + 1] ^= x[4 * i + 1];
	}
}

static void
open_all(struct differ *d)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	MPI_Datatype two;
	int len;

	MPI_Get_library_version(version, &len);
	d->ours = strncmp(version, "Atoll", 5) == 0;
	MPI_Comm_rank(MPI_COMM_WORLD, &d->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &d->size);
	d->own = dice_of(d->seed, 31337, (uint64_t)d->rank);
	d->attached = malloc((size_t)BUFFERED(d->bytes));
	if (d->attached == NULL)
		MPI_Abort(MPI_COMM_WORLD, 3);
	MPI_Buffer_attach(d->attached, BUFFERED(d->bytes));
	MPI_Comm_dup(MPI_COMM_WORLD, &d->reports);
	places_open(d);
	MPI_Type_contiguous(2, MPI_UINT32_T, &d->two);
	MPI_Type_commit(&d->two);
	MPI_Type_contiguous(2, MPI_UINT32_T, &two);
	MPI_Type_create_resized(two, 0, 16, &d->gapped);
	MPI_Type_commit(&d->gapped);
	MPI_Type_free(&two);
	MPI_Op_create(compose, 0, &d->compose);
	MPI_Op_create(add, 1, &d->add);
}

static void
close_all(struct differ *d)
{
	int size;

	MPI_Op_free(&d->compose);
	MPI_Op_free(&d->add);
	MPI_Type_free(&d->two);
	MPI_Type_free(&d->gapped);
	places_close(d);
	MPI_Comm_free(&d->reports);
	MPI_Buffer_detach(&d->attached, &size);
	free(d->attached);
}

static int
draw_kind(struct dice *dice, const char *wanted)
{
	int all = 0, i = 0, number;

	for (int k = 0; k < KINDS; k++)
		all += kinds[k].weight;
	for (number = below(dice, all); number >= kinds[i].weight; i++)
		number -= kinds[i].weight;
	for (int k = 0; wanted && k < KINDS; k++)
		i = strcmp(kinds[k].name, wanted) == 0 ? k : i;
	return i;
}

static void
report(struct differ *d, const char *kind)
{
	unsigned long long mine, theirs;

	/* MPICH 5.0.2 has errors of its own, after which nothing is known; ours must have none */
	mine = d->errors == 0 ? d->sum.value : d->ours ? ~d->sum.value : 0;

	if (d->rank > 0) {
		MPI_Send(&mine, 1, MPI_UNSIGNED_LONG_LONG, 0, 0, d->reports);
		return;
	}
	printf("step %d %s: %016llx", d->step, kind, mine);
	for (int i = 1; i < d->size; i++) {
		MPI_Recv(&theirs, 1, MPI_UNSIGNED_LONG_LONG, i, 0, d->reports, MPI_STATUS_IGNORE);
		printf(" %016llx", theirs);
	}
	printf("\n");
	fflush(stdout);
}

static void
one_step(struct differ *d, const char *wanted)
{
	struct dice dice = dice_of(d->seed, (uint64_t)d->step, 4242);
	int kind = draw_kind(&dice, wanted);

	d->errors = 0;
	d->sum.value = 14695981039346656037u;
	SAY(d, "%s", kinds[kind].name);
	kinds[kind].run(d, &dice);
	report(d, kinds[kind].name);
}

static const char *
option(int argc, char **argv, const char *name)
{
	size_t len = strlen(name);

	for (int i = 2; i < argc; i++)
		if (strncmp(argv[i], name, len) == 0 && argv[i][len] == '=')
			return argv[i] + len + 1;
	return NULL;
}

static long
number(int argc, char **argv, const char *name, long otherwise)
{
	const char *given = option(argc, argv, name);

	return given ? atol(given) : otherwise;
}

int
main(int argc, char **argv)
{
	struct differ d = {.seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1};
	const char *only, *wanted;
	long steps;

	MPI_Init(&argc, &argv);
	only = option(argc, argv, "only");
	wanted = option(argc, argv, "kind");
	steps = number(argc, argv, "steps", 40);
	d.most = (int)number(argc, argv, "most", 100);
	d.bytes = number(argc, argv, "bytes", 400000);
	d.verbose = argc > 2 && strcmp(argv[argc - 1], "-v") == 0;
	open_all(&d);
	if (d.rank == 0)
		printf("seed %llu ranks %d\n", (unsigned long long)d.seed, d.size);
	for (d.step = 0; !only && d.step < steps; d.step++)
		one_step(&d, wanted);
	while (only && *only) {
		char *end;

		d.step = (int)strtol(only, &end, 10);
		one_step(&d, wanted);
		only = *end ? end + 1 : end;
	}
	close_all(&d);
	MPI_Finalize();
	if (d.rank == 0)
		printf("No errors\n");
	return 0;
}
