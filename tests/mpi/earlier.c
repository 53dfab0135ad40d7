/* SPDX-License-Identifier: MIT
 *
 * What mpi.h offers beside the standard ABI: Fortran's handles as C sees them, and the functions
 * that MPI-3.0 removed.
 */
#define MPI_H			/* the guard of a program's own header may have any name */
#include "check.h"

struct record {
	int key;
	double value[2];
};

static int called;

static void
note(MPI_Comm *comm, int *code, ...)
{
	called += *comm != MPI_COMM_NULL && *code != MPI_SUCCESS;
}

static void
handles(struct check *c)
{
	MPI_Fint f[MPI_F_STATUS_SIZE], world = MPI_Comm_c2f(MPI_COMM_WORLD);
	MPI_Status status, back;
	MPI_Datatype pair;
	int result;

	CHECK(c, MPI_Comm_f2c(world) == MPI_COMM_WORLD);
	CHECK(c, MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)) == MPI_DOUBLE &&
		MPI_Op_f2c(MPI_Op_c2f(MPI_MAX)) == MPI_MAX);
	CHECK(c, MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
	CHECK(c, MPI_Group_f2c(MPI_Group_c2f(MPI_GROUP_EMPTY)) == MPI_GROUP_EMPTY &&
		MPI_Info_f2c(MPI_Info_c2f(MPI_INFO_NULL)) == MPI_INFO_NULL);
	CHECK(c, MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL &&
		MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
	MPI_Comm_compare(MPI_Comm_f2c(world), MPI_COMM_WORLD, &result);
	CHECK(c, result == MPI_IDENT);
	MPI_Type_hvector(2, 1, 24, MPI_INT, &pair);
	CHECK(c, MPI_Type_f2c(MPI_Type_c2f(pair)) == pair);
	MPI_Type_free(&pair);

	MPI_Sendrecv(&world, 1, MPI_INT, 0, 5, &result, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &status);
	MPI_Status_c2f(&status, f);
	CHECK(c, f[MPI_F_SOURCE] == 0 && f[MPI_F_TAG] == 5);
	memset(&back, 0x5a, sizeof back);
	MPI_Status_f2c(f, &back);
	CHECK(c, back.MPI_TAG == 5 && MPI_Get_count(&back, MPI_INT, &result) == MPI_SUCCESS &&
		result == 1);
}

static void
types(struct check *c)
{
	struct record out = {c->rank, {0.5, c->rank + 1.0}}, in = {-1, {0, 0}};
	int lengths[2] = {1, 2}, next = (c->rank + 1) % c->size,
		before = (c->rank + c->size - 1) % c->size;
	MPI_Aint at[2], base, lb, ub, extent;
	MPI_Datatype kinds[2] = {MPI_INT, MPI_DOUBLE}, type, spread;

	MPI_Address(&out, &base);
	MPI_Address(&out.key, &at[0]);
	MPI_Address(out.value, &at[1]);
	at[0] -= base;
	at[1] -= base;
	MPI_Type_struct(2, lengths, at, kinds, &type);
	MPI_Type_commit(&type);
	MPI_Type_lb(type, &lb);
	MPI_Type_ub(type, &ub);
	MPI_Type_extent(type, &extent);
	CHECK(c, lb == 0 && ub == sizeof out && extent == sizeof out);
	MPI_Sendrecv(&out, 1, type, next, 1, &in, 1, type, before, 1, MPI_COMM_WORLD,
		MPI_STATUS_IGNORE);
	CHECK(c, in.key == before && in.value[0] == 0.5 && in.value[1] == before + 1.0);
	MPI_Type_free(&type);

	at[0] = 8;
	at[1] = 32;
	MPI_Type_hindexed(2, lengths, at, MPI_INT, &spread);
	MPI_Type_lb(spread, &lb);
	MPI_Type_ub(spread, &ub);
	CHECK(c, lb == 8 && ub == 40);
	MPI_Type_free(&spread);
}

static void
errors(struct check *c)
{
	MPI_Errhandler ours, now;
	int value = 0;

	MPI_Errhandler_create(note, &ours);
	MPI_Errhandler_set(MPI_COMM_SELF, ours);
	MPI_Errhandler_get(MPI_COMM_SELF, &now);
	CHECK(c, now == ours);
	MPI_Errhandler_free(&now);
	CHECK(c, MPI_Send(&value, 1, MPI_INT, 7, 0, MPI_COMM_SELF) != MPI_SUCCESS && called == 1);
	MPI_Errhandler_set(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
	MPI_Errhandler_free(&ours);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);

	handles(&c);
	types(&c);
	errors(&c);
	return check_end(&c);
}
