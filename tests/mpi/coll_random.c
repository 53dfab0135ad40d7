/* SPDX-License-Identifier: MIT
 *
 * Random collectives on random communicators against the oracle: several on their way at the same
 * time, in all three forms, completed in another order on each rank, with ranks that are late.
 * usage: coll_random [SEED [BATCHES [each]]]
 *
 * each: so many batches for each algorithm, of its collective and with it wherever it can be used.
 */
#include "coll_force.h"
#include "coll_trial.h"

#define COMMS 6
#define BATCH 4
#define TYPES 4

struct world {
	struct check *c;
	uint64_t seed;
	MPI_Comm comm[COMMS];		/* MPI_COMM_NULL: not here */
	MPI_Op compose;			/* does not commute */
	MPI_Op add;			/* does */
	const char *name;		/* "collective=algorithm" that is looked at, or NULL */
	uint32_t private;		/* state of this rank's own random numbers */
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

static void
add(void *in, void *inout, int *len, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *len; i++)
		((uint32_t *)inout)[i] += ((const uint32_t *)in)[i];
}

static const int sizes[] = {0, 1, 2, 5, 17, 300, 3000, 20000};

/* One operand and no blocks? */
static int
is_whole(const struct trial *t)
{
	return t->kind == BCAST || t->kind == REDUCE || t->kind == ALLREDUCE || t->kind == SCAN ||
		t->kind == EXSCAN;
}

static int
draw_count(const struct trial *t, uint32_t number)
{
	uint32_t choices = is_whole(t) ? (t->size + t->peers <= 16 ? 8 : 7) : 6;

	return sizes[number % choices];
}

static void
draw_type(struct trial *t, const struct world *w, uint32_t number)
{
	static const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_BXOR};
	int choice = (int)(number % TYPES);

	t->op = ops[number / TYPES % 3];
	if (choice == 0) {
		t->type = MPI_DOUBLE;
		t->extent = 8;
		t->op = ops[number / TYPES % 2];
	} else if (choice == 1) {
		t->type = MPI_2INT;
		t->extent = 8;
		t->op = number / TYPES % 2 ? MPI_MINLOC : w->compose;
	} else {
		t->type = MPI_INT;
		t->extent = 4;
		if (choice == 2)
			t->op = w->add;
	}
}

/*
 * Elements between two ranks, or of one: the same for both directions. `side`: which of two groups.
 */
static int
pair_count(const struct world *w, const struct trial *t, uint64_t n, int a, int b)
{
	if (!t->inter && a > b)
		return pair_count(w, t, n, b, a);
	return (int)(draw(w->seed, n, 100, (uint64_t)(a * 4096 + b)) % (uint32_t)(t->count + 1));
}

static int
rank_count(const struct world *w, const struct trial *t, uint64_t n, int side, int rank)
{
	return (int)(draw(w->seed, n, 101,
		(uint64_t)(side * 4096 + rank)) % (uint32_t)(t->count + 1));
}

/* Both vectors of this rank. `side` is its own group. */
static void
draw_vectors(const struct world *w, struct trial *t, uint64_t n, int side)
{
	int gap = t->kind == GATHERV || t->kind == SCATTERV || t->kind == ALLGATHERV ||
		t->kind == ALLTOALLV || t->kind == ALLTOALLW;
	int unit = t->kind == ALLTOALLW ? (int)t->extent : 1, at = 0,
		pairs = t->kind == ALLTOALLV || t->kind == ALLTOALLW;
	int most = t->size > t->peers ? t->size : t->peers;

	for (int i = 0; i < t->peers; i++) {
		int between = side ? pair_count(w, t, n, i, t->rank) :
			pair_count(w, t, n, t->rank, i);
		int theirs = rank_count(w, t, n, t->inter ? !side : 0, i);

		t->send_counts[i] = !gap ? t->count : pairs ? between : theirs;
		t->recv_counts[i] = t->send_counts[i];
		t->send_at[i] = t->recv_at[i] = at * unit;
		at += t->send_counts[i] + gap;
		t->types[i] = t->type;
	}
	/* gatherv: one block out; scatterv: one block in */
	if (t->kind == GATHERV || t->kind == ALLGATHERV)
		t->send_counts[0] = rank_count(w, t, n, side, t->rank);
	if (t->kind == SCATTERV)
		t->recv_counts[0] = rank_count(w, t, n, side, t->rank);
	t->bytes = (size_t)(is_whole(t) ? t->count : (t->count + 1) * most) * t->extent;
}

/* A total that both groups can divide. */
static void
draw_parts(const struct world *w, struct trial *t, uint64_t n, int side)
{
	int left;

	t->total = t->count * t->size * (t->inter ? t->peers : 1);
	left = t->total;
	for (int i = 0; i < t->size; i++) {
		int part = i == t->size - 1 ? left :
			(int)(draw(w->seed, n, 102,
			(uint64_t)(side * 4096 + i)) % (uint32_t)(2 * t->count + 1));

		if (part > left)
			part = left;
		t->recv_counts[i] = t->kind == REDUCE_SCATTER ? part : t->total / t->size;
		left -= part;
	}
	if (t->kind == REDUCE_SCATTER_BLOCK)
		t->count = t->total / t->size;
	t->bytes = (size_t)t->total * t->extent;
}

static void
draw_root(const struct world *w, struct trial *t, uint64_t n, int side)
{
	int root_side = (int)(draw(w->seed, n, 4, 0) % 2), among;

	among = !t->inter ? t->size : side == root_side ? t->size : t->peers;
	t->root_rank = t->root = (int)(draw(w->seed, n, 5, 0) % (uint32_t)among);
	t->at_root = t->rank == t->root && (!t->inter || side == root_side);
	if (t->inter && side == root_side)
		t->root = t->at_root ? MPI_ROOT : MPI_PROC_NULL;
}

static void
fill(const struct world *w, struct trial *t, uint64_t n)
{
	size_t words = t->bytes / 4;

	for (size_t i = 0; i < words; i++) {
		uint32_t v = draw(w->seed, n, 200 + (uint64_t)w->c->rank, i) % 1000;

		if (t->type == MPI_DOUBLE && i % 2 == 0) {
			((double *)(void *)t->send)[i / 2] = v;
			((double *)(void *)t->recv)[i / 2] = v + 1;
		} else if (t->type != MPI_DOUBLE) {
			((uint32_t *)(void *)t->send)[i] = v;
			((uint32_t *)(void *)t->recv)[i] = v + 1;
		}
	}
	memcpy(t->expect, t->recv, t->bytes);
}

static void
describe_comm(struct trial *t)
{
	MPI_Comm_test_inter(t->comm, &t->inter);
	MPI_Comm_rank(t->comm, &t->rank);
	MPI_Comm_size(t->comm, &t->size);
	t->peers = t->size;
	if (t->inter)
		MPI_Comm_remote_size(t->comm, &t->peers);
}

/* as the library calls them */
static const char *const kind_names[] = {
	"barrier", "bcast", "gather", "gather", "scatter", "scatter", "allgather", "allgather",
	"alltoall", "alltoall", "alltoall", "reduce",
	"allreduce", "reduce_scatter", "reduce_scatter", "scan", "exscan",
};

static enum kind
draw_kind(const struct world *w, uint64_t n)
{
	uint32_t number = draw(w->seed, n, 1, 0) % KINDS;
	size_t len = w->name ? strcspn(w->name, "=") : 0;

	/* the next one that the algorithm is for */
	while (w->name != NULL && (strncmp(kind_names[number], w->name, len) != 0 ||
		kind_names[number][len] != '\0'))
		number = (number + 1) % KINDS;
	return (enum kind)number;
}

static struct trial
draw_trial(const struct world *w, uint64_t n, MPI_Comm comm)
{
	struct trial t = {.comm = comm, .kind = draw_kind(w, n),
		.form = (enum form)(draw(w->seed, n, 2, 0) % FORMS)};
	size_t most;
	int side = 0, rooted;

	describe_comm(&t);
	if (t.inter && (t.kind == SCAN || t.kind == EXSCAN))
		t.kind = ALLREDUCE;
	if (t.inter)
		side = w->c->rank % 2;
	most = (size_t)(t.size > t.peers ? t.size : t.peers) + 1;
	t.send_counts = calloc(most, sizeof(int));
	t.send_at = calloc(most, sizeof(int));
	t.recv_counts = calloc(most, sizeof(int));
	t.recv_at = calloc(most, sizeof(int));
	t.types = calloc(most, sizeof(*t.types));
	draw_type(&t, w, draw(w->seed, n, 3, 0));
	t.count = draw_count(&t, draw(w->seed, n, 6, 0));
	rooted = t.kind != BARRIER && t.kind != BCAST;
	t.in_place = !t.inter && rooted && draw(w->seed, n, 7, 0) % 3 == 0;
	draw_root(w, &t, n, side);
	if (t.kind == REDUCE_SCATTER || t.kind == REDUCE_SCATTER_BLOCK)
		draw_parts(w, &t, n, side);
	else
		draw_vectors(w, &t, n, side);
	t.bytes = (t.bytes + 31) / 16 * 16;
	t.send = calloc(1, t.bytes);
	t.recv = calloc(1, t.bytes);
	t.expect = calloc(1, t.bytes);
	fill(w, &t, n);
	return t;
}

static void
drop(struct trial *t)
{
	free(t->send_counts);
	free(t->send_at);
	free(t->recv_counts);
	free(t->recv_at);
	free(t->types);
	free(t->send);
	free(t->recv);
	free(t->expect);
}

/* This rank's own chance: not the same elsewhere. */
static uint32_t
chance(struct world *w)
{
	w->private = draw(w->seed, w->private, (uint64_t)w->c->rank, 9);
	return w->private;
}

static void
dawdle(struct world *w)
{
	uint32_t n = chance(w) % 8 == 0 ? chance(w) % 20000 : 0;

	for (volatile uint32_t i = 0; i < n; i++)
		continue;
}

/* Finish all that are on their way, whichever comes first or in an order of our own. */
static void
finish(struct world *w, struct trial *t, int n)
{
	MPI_Request requests[BATCH];
	int left = n, i;

	for (i = 0; i < n; i++)
		requests[i] = t[i].request;
	while (left > 0 && chance(w) % 4 != 0) {
		MPI_Waitany(n, requests, &i, MPI_STATUS_IGNORE);
		left = i == MPI_UNDEFINED ? 0 : left - 1;
	}
	for (i = (int)(chance(w) % (uint32_t)n); left > 0 && i < n; i++)
		MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
	MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
	/* persistent ones once more: the result of the second start is what counts */
	for (i = 0; i < n; i++) {
		if (t[i].form != PERSISTENT)
			continue;
		memcpy(t[i].recv, t[i].expect, t[i].bytes);
		MPI_Start(&requests[i]);
		dawdle(w);
		MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
		MPI_Request_free(&requests[i]);
	}
}

static void
batch(struct world *w, uint64_t number)
{
	struct trial t[BATCH];
	MPI_Comm comm = w->comm[draw(w->seed, number, 8, 0) % COMMS];
	int n = 1 + (int)(draw(w->seed, number, 9, 0) % BATCH);

	if (comm == MPI_COMM_NULL)
		return;
	for (int i = 0; i < n; i++)
		t[i] = draw_trial(w, number * BATCH + (uint64_t)i, comm);
	for (int i = 0; i < n; i++) {
		trial_start(&t[i]);
		dawdle(w);
	}
	finish(w, t, n);
	for (int i = 0; i < n; i++) {
		if (!trial_is_right(&t[i]))
			check_fail(w->c, "seed %llu batch %llu number %d: kind %d form %d size %d "
				"count %d in place %d inter %d root %d %s",
				(unsigned long long)w->seed, (unsigned long long)number, i,
				t[i].kind, t[i].form, t[i].size, t[i].count,
				t[i].in_place, t[i].inter, t[i].root, w->name ? w->name : "");
		drop(&t[i]);
	}
}

/* Even and odd ranks, if the library has communicators between groups. */
static MPI_Comm
between(struct world *w, MPI_Comm half)
{
	MPI_Comm inter = MPI_COMM_NULL;

	if (w->c->size < 2)
		return inter;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
	if (MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - w->c->rank % 2, 5, &inter) !=
		MPI_SUCCESS)
		inter = MPI_COMM_NULL;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_set_errhandler(half, MPI_ERRORS_ARE_FATAL);
	return inter;
}

static void
each_algorithm(struct world *w, uint64_t batches)
{
	for (int a = 0; a < COLL_NAMES; a++) {
		w->name = coll_names[a];
		for (int i = 0; i < COMMS; i++)
			if (w->comm[i] != MPI_COMM_NULL)
				coll_force(w->comm[i], w->name);
		for (uint64_t i = 0; i < batches; i++)
			batch(w, i + (uint64_t)a * batches);
	}
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	struct world w = {.c = &c, .seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1,
		.comm = {MPI_COMM_WORLD}};
	uint64_t batches = argc > 2 ? strtoull(argv[2], NULL, 10) : 100;

	if (c.rank == 0)
		printf("seed %llu\n", (unsigned long long)w.seed);
	MPI_Op_create(compose, 0, &w.compose);
	MPI_Op_create(add, 1, &w.add);
	MPI_Comm_dup(MPI_COMM_WORLD, &w.comm[1]);
	MPI_Comm_split(MPI_COMM_WORLD, c.rank % 2, c.rank, &w.comm[2]);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -c.rank, &w.comm[3]);
	MPI_Comm_split(MPI_COMM_WORLD, c.rank < c.size / 3 ? MPI_UNDEFINED : c.rank > c.size / 2, 0,
		&w.comm[4]);
	w.comm[5] = between(&w, w.comm[2]);
	if (argc > 3)
		each_algorithm(&w, batches);
	for (uint64_t i = 0; argc <= 3 && i < batches; i++)
		batch(&w, i);
	for (int i = 1; i < COMMS; i++)
		if (w.comm[i] != MPI_COMM_NULL)
			MPI_Comm_free(&w.comm[i]);
	MPI_Op_free(&w.compose);
	MPI_Op_free(&w.add);
	return check_end(&c);
}
