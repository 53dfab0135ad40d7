/* SPDX-License-Identifier: MIT
 *
 * Many non-blocking collectives on their way at the same time, more than the library has room for:
 * of all sizes, started by ranks that are late one after the other, completed in another order on
 * each rank, beside blocking ones and messages. usage: started [ROUNDS]
 */
#include "check.h"

#define CALLS 60
#define LARGEST 5000		/* ints of the largest operand */
#define FEW 9			/* of most others */

static struct check c;

struct one {
	MPI_Request request;
	int kind;
	int count;
	int root;
	int *in;
	int *out;
};

static int
given(int call, int rank, int i)
{
	return call * 8191 + rank * 131 + i;
}

static int
count_of(int call, int round)
{
	static const int counts[] = {1, 2, FEW, 200, 700, 0, 2500, LARGEST};

	return counts[(call * 5 + round + call / 7) % 8];
}

/* What a rank gives: for an alltoall a block for each. */
static void
fill(struct one *o, int call, int rank, int blocks)
{
	for (int b = 0; b < blocks; b++)
		for (int i = 0; i < o->count; i++)
			o->in[b * o->count + i] = given(call, rank, b * o->count + i);
	for (int i = 0; i < c.size * o->count; i++)
		o->out[i] = -1;
}

static void
start(struct one *o, int call, int round)
{
	o->kind = (call + call / 11 + round) % 6;
	o->count = count_of(call, round);
	o->root = (call + round) % c.size;
	o->in = calloc((size_t)(c.size * o->count) + 1, sizeof(int));
	o->out = calloc((size_t)(c.size * o->count) + 1, sizeof(int));
	fill(o, call, c.rank, o->kind == 2 ? c.size : 1);
	switch (o->kind) {
	case 0: MPI_Ibcast(o->in, o->count, MPI_INT, o->root, MPI_COMM_WORLD, &o->request); break;
	case 1: MPI_Iallreduce(o->in, o->out, o->count, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
		&o->request); break;
	case 2: MPI_Ialltoall(o->in, o->count, MPI_INT, o->out, o->count, MPI_INT,
		MPI_COMM_WORLD, &o->request); break;
	case 3: MPI_Igather(o->in, o->count, MPI_INT, o->out, o->count, MPI_INT, o->root,
		MPI_COMM_WORLD, &o->request); break;
	case 4: MPI_Iscan(o->in, o->out, o->count, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
		&o->request); break;
	default: MPI_Ibarrier(MPI_COMM_WORLD, &o->request); break;
	}
}

static int
sum_of(int call, int ranks, int i)
{
	int sum = 0;

	for (int r = 0; r < ranks; r++)
		sum += given(call, r, i);
	return sum;
}

/* Element i of what block b of the result must be. */
static int
wanted(const struct one *o, int call, int b, int i)
{
	switch (o->kind) {
	case 0: return given(call, o->root, i);
	case 1: return sum_of(call, c.size, i);
	case 2: return given(call, b, c.rank * o->count + i);
	case 3: return given(call, b, i);
	default: return sum_of(call, c.rank + 1, i);
	}
}

static void
check(struct one *o, int call)
{
	int many = o->kind == 2 || o->kind == 3, wrong = 0;
	const int *got = o->kind == 0 ? o->in : o->out;

	for (int b = 0; b < (many ? c.size : 1); b++)
		for (int i = 0; i < o->count; i++)
			wrong += got[b * o->count + i] != wanted(o, call, b, i);
	CHECK(&c, o->kind == 5 || (o->kind == 3 && o->root != c.rank) || wrong == 0);
	free(o->in);
	free(o->out);
}

/* Ranks begin one after the other, and the one that begins last is another one each time. */
static void
take_turns(int round, int begins)
{
	int first = round % c.size, token = 0;
	int left = (c.rank + c.size - 1) % c.size, right = (c.rank + 1) % c.size;

	if (begins && c.rank != first)
		MPI_Recv(&token, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!begins && right != first)
		MPI_Send(&token, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
}

static void
complete(struct one *all, int round)
{
	int order = (c.rank + round) % 3, sum = 0, one = 1;

	if (order == 0)
		for (int i = 0; i < CALLS; i++)
			MPI_Wait(&all[i].request, MPI_STATUS_IGNORE);
	if (round % 2 == 0) {
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		CHECK(&c, sum == c.size);
	}
	for (int i = CALLS - 1; order == 1 && i >= 0; i--)
		MPI_Wait(&all[i].request, MPI_STATUS_IGNORE);
	for (int left = CALLS; order == 2 && left > 0;)
		for (int i = 0; i < CALLS; i++) {
			int done = 0;

			if (all[i].request != MPI_REQUEST_NULL)
				MPI_Test(&all[i].request, &done, MPI_STATUS_IGNORE);
			left -= done;
		}
}

/* Types and operations go while collectives with them are on their way. */
static void
first(void *in, void *inout, int *len, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *len; i++)
		((int *)inout)[i] = ((const int *)in)[i];
}

static void
freed(void)
{
	MPI_Request r[2];
	MPI_Datatype column;
	MPI_Comm comm;
	MPI_Op op;
	int mine = c.rank + 1, got = -1, matrix[12], token = 0;

	for (int i = 0; i < 12; i++)
		matrix[i] = c.rank == 0 ? i : -1;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Bcast(matrix, 0, MPI_INT, 0, comm);
	MPI_Allreduce(&mine, &got, 1, MPI_INT, MPI_SUM, comm);
	MPI_Op_create(first, 0, &op);
	MPI_Type_vector(3, 1, 4, MPI_INT, &column);
	MPI_Type_commit(&column);
	MPI_Iallreduce(&mine, &got, 1, MPI_INT, op, comm, &r[0]);
	MPI_Ibcast(matrix, 1, column, 0, comm, &r[1]);
	MPI_Type_free(&column);
	MPI_Op_free(&op);
	MPI_Comm_free(&comm);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	CHECK(&c, got == 1);
	for (int i = 0; i < 12; i++)
		CHECK(&c, matrix[i] == (c.rank == 0 || i % 4 == 0 ? i : -1));
	MPI_Sendrecv(&token, 1, MPI_INT, (c.rank + 1) % c.size, 2, &mine, 1, MPI_INT,
		(c.rank + c.size - 1) % c.size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int
main(int argc, char **argv)
{
	static struct one all[CALLS];
	int rounds, data[100] = {0};

	c = check_begin(&argc, &argv);
	rounds = argc > 1 ? atoi(argv[1]) : 12;
	for (int round = 0; round < rounds; round++) {
		take_turns(round, 1);
		for (int i = 0; i < CALLS; i++)
			start(&all[i], i, round);
		take_turns(round, 0);
		complete(all, round);
		for (int i = 0; i < CALLS; i++)
			check(&all[i], i);
		/* from the second round on there is room in shared memory for what is started */
		MPI_Bcast(data, 100, MPI_INT, 0, MPI_COMM_WORLD);
		freed();
	}
	return check_end(&c);
}
