/* SPDX-License-Identifier: MIT
 *
 * Intercommunicators: messages between the groups, and all that is made of them.
 */
#include "check.h"

/* Every rank sends to the next ones of the other group. */
static void
talk(struct check *c, MPI_Comm inter)
{
	int rank, size, remote, out[2], in[2];
	MPI_Request r[2];
	MPI_Status s;

	MPI_Comm_rank(inter, &rank);
	MPI_Comm_size(inter, &size);
	MPI_Comm_remote_size(inter, &remote);
	for (int i = 0; i < (size > remote ? size : remote); i++) {
		/* at step i the pairs are those whose ranks, by size, agree with i */
		if (rank != i % size)
			continue;
		out[0] = rank;
		out[1] = c->rank;
		MPI_Isend(out, 2, MPI_INT, i % remote, i, inter, &r[0]);
		MPI_Irecv(in, 2, MPI_INT, MPI_ANY_SOURCE, i, inter, &r[1]);
		MPI_Wait(&r[1], &s);
		MPI_Wait(&r[0], MPI_STATUS_IGNORE);
		CHECK(c, in[0] == i % remote && s.MPI_SOURCE == in[0] && in[1] != c->rank);
	}
}

static void
merge(struct check *c, MPI_Comm inter, int low)
{
	MPI_Comm all;
	int rank, size, first, want;

	MPI_Intercomm_merge(inter, !low, &all);
	MPI_Comm_rank(all, &rank);
	MPI_Comm_size(all, &size);
	MPI_Comm_rank(inter, &first);
	MPI_Comm_remote_size(inter, &want);
	CHECK(c, rank == (low ? first : want + first));
	MPI_Allreduce(&rank, &want, 1, MPI_INT, MPI_SUM, all);
	CHECK(c, want == size * (size - 1) / 2);
	MPI_Comm_free(&all);
}

static void
of_both(struct check *c, MPI_Comm inter)
{
	MPI_Comm dup, part, made;
	MPI_Group g, one;
	int rank, size, flag, result, first = 0, remote;
	MPI_Request r;

	MPI_Comm_dup(inter, &dup);
	MPI_Comm_test_inter(dup, &flag);
	CHECK(c, flag);
	MPI_Comm_compare(inter, dup, &result);
	CHECK(c, result == MPI_CONGRUENT);
	MPI_Comm_compare(inter, MPI_COMM_WORLD, &result);
	CHECK(c, result == MPI_UNEQUAL);
	talk(c, dup);
	MPI_Comm_free(&dup);
	MPI_Comm_idup(inter, &dup, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	talk(c, dup);
	MPI_Comm_free(&dup);
	MPI_Comm_rank(inter, &rank);
	MPI_Comm_size(inter, &size);
	MPI_Comm_remote_size(inter, &remote);
	MPI_Comm_split(inter, rank % 2, -rank, &part);
	CHECK(c, (part == MPI_COMM_NULL) == (rank % 2 == 1 && remote == 1));
	if (part != MPI_COMM_NULL) {
		talk(c, part);
		MPI_Comm_free(&part);
	}
	MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
	if (part != MPI_COMM_NULL) {
		talk(c, part);
		MPI_Comm_free(&part);
	}
	MPI_Comm_group(inter, &g);
	MPI_Group_incl(g, 1, &first, &one);
	MPI_Comm_create(inter, one, &made);
	CHECK(c, (made == MPI_COMM_NULL) == (rank != 0));
	if (made != MPI_COMM_NULL) {
		talk(c, made);
		MPI_Comm_free(&made);
	}
	MPI_Group_free(&one);
	MPI_Group_free(&g);
	MPI_Comm_remote_group(inter, &g);
	MPI_Group_size(g, &result);
	CHECK(c, result == remote);
	MPI_Group_free(&g);
}

/*
 * To the first of the lower ranks; what the other lower ones say of type and operation does not
 * matter.
 */
static void
to_the_other_side(struct check *c, MPI_Comm inter, int low)
{
	int rank, remote, one = 1, sum = -1, root = 0;

	MPI_Comm_rank(inter, &rank);
	MPI_Comm_remote_size(inter, &remote);
	if (low)
		root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
	if (root == MPI_PROC_NULL)
		CHECK(c, MPI_Reduce(NULL, NULL, 0, MPI_BYTE, MPI_SUM, root, inter) == MPI_SUCCESS);
	else
		CHECK(c, MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, root, inter) == MPI_SUCCESS);
	CHECK(c, root != MPI_ROOT || sum == remote);
}

/* Groups of the first `lower` ranks and of the others; the leaders are their last ranks. */
static void
pair(struct check *c, int lower)
{
	int low = c->rank < lower, rank, size;
	MPI_Comm local, inter;

	MPI_Comm_split(MPI_COMM_WORLD, low, 0, &local);
	MPI_Comm_rank(local, &rank);
	MPI_Comm_size(local, &size);
	MPI_Intercomm_create(local, size - 1, MPI_COMM_WORLD, low ? c->size - 1 : lower - 1, 12,
		&inter);
	talk(c, inter);
	of_both(c, inter);
	merge(c, inter, low);
	to_the_other_side(c, inter, low);
	CHECK(c, MPI_Bcast(&rank, 1, MPI_INT, -77, inter) != MPI_SUCCESS);
	MPI_Comm_free(&local);
	talk(c, inter);
	MPI_Comm_free(&inter);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	MPI_Comm none;
	int n;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	CHECK(&c, MPI_Comm_remote_size(MPI_COMM_WORLD, &n) == MPI_ERR_COMM);
	CHECK(&c, MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &none) == MPI_ERR_COMM);
	CHECK(&c, MPI_Intercomm_create(MPI_COMM_WORLD, c.size, MPI_COMM_WORLD, 0, 0, &none) ==
		MPI_ERR_RANK);
	for (int lower = 1; lower < c.size; lower += c.size > 6 ? 3 : 1)
		pair(&c, lower);
	return check_end(&c);
}
