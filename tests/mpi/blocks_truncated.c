/* SPDX-License-Identifier: MIT
 *
 * Who expects less of a block than is sent is told so, and gets what it expects and nothing beyond
 * it: by each of the collectives whose blocks differ, with blocks of few bytes, some, and many; and
 * by a persistent one each time that it is started.
 */
#include "check.h"
#include "coll_force.h"

#define BYTES_MAX 40000
#define RANKS_MAX 8
#define UNTOUCHED 0x5a

/* Rank 0 sends rank 1 more than that one expects. All other blocks are empty. */
struct trial {
	struct check *c;
	const char *name;
	MPI_Comm comm;
	int rank;
	int n;
	int sent;
	int expected;
	int send_counts[RANKS_MAX], recv_counts[RANKS_MAX], nowhere[RANKS_MAX];
	MPI_Datatype types[RANKS_MAX];
	char in[BYTES_MAX], out[BYTES_MAX];
};

static void
judge(struct trial *t, const char *what, int code)
{
	int class = check_class(code);

	if (t->rank != 1)
		return;
	if (class != MPI_ERR_TRUNCATE)
		check_fail(t->c, "%s, %s, %d ranks: %d bytes instead of %d: class %d", t->name,
			what, t->n,
			t->sent, t->expected, class);
	for (int i = 0; i < t->sent; i++) {
		char right = i < t->expected ? t->in[i] : UNTOUCHED;

		if (t->out[i] != right) {
			check_fail(t->c, "%s, %s: %d bytes instead of %d: byte %d", t->name, what,
				t->sent,
				t->expected, i);
			return;
		}
	}
}

static void
prepare(struct trial *t)
{
	memset(t->send_counts, 0, sizeof(t->send_counts));
	memset(t->recv_counts, 0, sizeof(t->recv_counts));
	memset(t->out, UNTOUCHED, sizeof(t->out));
	check_fill(t->in, sizeof(t->in), 0, t->sent);
}

static void
gatherv(struct trial *t)
{
	int sent = t->rank == 0 ? t->sent : 0;

	prepare(t);
	t->recv_counts[0] = t->expected;
	judge(t, "MPI_Gatherv", MPI_Gatherv(t->in, sent, MPI_BYTE, t->out, t->recv_counts,
		t->nowhere,
		MPI_BYTE, 1, t->comm));
}

static void
scatterv(struct trial *t)
{
	int expected = t->rank == 1 ? t->expected : 0;

	prepare(t);
	t->send_counts[1] = t->sent;
	judge(t, "MPI_Scatterv", MPI_Scatterv(t->in, t->send_counts, t->nowhere, MPI_BYTE, t->out,
		expected, MPI_BYTE, 0, t->comm));
}

static void
allgatherv(struct trial *t)
{
	int sent = t->rank == 0 ? t->sent : 0;

	prepare(t);
	t->recv_counts[0] = t->rank == 1 ? t->expected : t->sent;
	judge(t, "MPI_Allgatherv", MPI_Allgatherv(t->in, sent, MPI_BYTE, t->out, t->recv_counts,
		t->nowhere, MPI_BYTE, t->comm));
}

static void
alltoallv(struct trial *t)
{
	prepare(t);
	t->send_counts[1] = t->rank == 0 ? t->sent : 0;
	t->recv_counts[0] = t->rank == 1 ? t->expected : 0;
	judge(t, "MPI_Alltoallv", MPI_Alltoallv(t->in, t->send_counts, t->nowhere, MPI_BYTE, t->out,
		t->recv_counts, t->nowhere, MPI_BYTE, t->comm));
	memset(t->out, UNTOUCHED, sizeof(t->out));
	judge(t, "MPI_Alltoallw", MPI_Alltoallw(t->in, t->send_counts, t->nowhere, t->types, t->out,
		t->recv_counts, t->nowhere, t->types, t->comm));
}

/* Again and again: what failed once runs the next time as before. */
static void
persistent(struct trial *t)
{
	MPI_Request r;

	if (t->expected == 0)
		return;
	MPI_Bcast_init(t->rank == 0 ? t->in : t->out, t->rank == 1 ? t->expected : t->sent,
		MPI_BYTE, 0,
		t->comm, MPI_INFO_NULL, &r);
	for (int i = 0; i < 3; i++) {
		prepare(t);
		check_fill(t->in, sizeof(t->in), i, t->sent);
		MPI_Start(&r);
		judge(t, "persistent MPI_Bcast", MPI_Wait(&r, MPI_STATUS_IGNORE));
	}
	MPI_Request_free(&r);
}

static void
each_size(struct trial *t, const char *name)
{
	static const int sizes[][2] = {{1, 0}, {4, 3}, {8, 4}, {16, 15}, {17, 16}, {32, 9},
		{33, 32},
		{1000, 1}, {3500, 3499}, {4096, 4000}, {4097, 4096}, {BYTES_MAX, 30000}};

	t->name = name;
	coll_force(t->comm, name);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		t->sent = sizes[i][0];
		t->expected = sizes[i][1];
		gatherv(t);
		scatterv(t);
		allgatherv(t);
		alltoallv(t);
		persistent(t);
	}
}

/* Does this rank run where another one does? */
static int
is_beside(const char *mine, int other)
{
	char theirs[MPI_MAX_PROCESSOR_NAME];

	memcpy(theirs, mine, sizeof(theirs));
	MPI_Bcast(theirs, sizeof(theirs), MPI_CHAR, other, MPI_COMM_WORLD);
	return strcmp(mine, theirs) == 0;
}

/*
 * A meeting of several clusters, of which the last one gets too much: all its ranks are told, not
 * only the one that got it.
 */
static void
meeting(struct check *c)
{
	char mine[MPI_MAX_PROCESSOR_NAME] = "", data[8] = "seven77";
	int len, class, first, last, elsewhere;
	MPI_Comm comm;

	MPI_Get_processor_name(mine, &len);
	first = is_beside(mine, 0);
	last = is_beside(mine, c->size - 1);
	elsewhere = last && !first;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	coll_force(comm, "bcast=central");
	class = check_class(MPI_Bcast(data, elsewhere ? 4 : 8, MPI_CHAR, 0, comm));
	if (class != (elsewhere ? MPI_ERR_TRUNCATE : MPI_SUCCESS))
		check_fail(c, "a meeting of clusters: class %d on %s", class, mine);
	MPI_Comm_free(&comm);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	static struct trial t;

	t.c = &c;
	for (int i = 0; i < RANKS_MAX; i++)
		t.types[i] = MPI_BYTE;
	for (int n = 2; n <= c.size && n <= RANKS_MAX; n++) {
		MPI_Comm_split(MPI_COMM_WORLD, c.rank < n ? 0 : MPI_UNDEFINED, 0, &t.comm);
		if (t.comm == MPI_COMM_NULL)
			continue;
		MPI_Comm_set_errhandler(t.comm, MPI_ERRORS_RETURN);
		MPI_Comm_rank(t.comm, &t.rank);
		t.n = n;
		each_size(&t, "");
		each_size(&t, "gather=descriptors,scatter=descriptors,"
		"allgather=descriptors,alltoall=descriptors");
		MPI_Comm_free(&t.comm);
	}
	meeting(&c);
	return check_end(&c);
}
