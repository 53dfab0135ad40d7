/* SPDX-License-Identifier: MIT
 *
 * MPI_Pack and MPI_Unpack of types that programs use: bytes of data per second, for as many
 * elements as make 256 KiB. One rank. usage: pack [--rounds N]
 */
#include <mpi.h>
#include <stddef.h>
#include "micro.h"

#define BYTES 262144
#define ROOM (64 << 20)

struct particle {
	double x[3];
	int kind;
	char tag;
};

static char *memory, *packed;

/* Seconds of the shortest of many operations: others may run on the machine. */
static double
shortest(int packs, int count, MPI_Datatype t, long rounds)
{
	double best = 1e9, start;

	for (long i = 0; i < rounds; i++) {
		int position = 0;

		start = MPI_Wtime();
		if (packs)
			MPI_Pack(memory, count, t, packed, ROOM, &position, MPI_COMM_WORLD);
		else
			MPI_Unpack(packed, ROOM, &position, memory, count, t, MPI_COMM_WORLD);
		start = MPI_Wtime() - start;
		best = start < best ? start : best;
	}
	return best;
}

static void
measure(const char *name, MPI_Datatype t, long rounds)
{
	int size, count;

	MPI_Type_commit(&t);
	MPI_Type_size(t, &size);
	count = size < BYTES ? BYTES / size : 1;
	row("pack", (double)size * count / shortest(1, count, t, rounds) / 1e9, "GB/s", name);
	row("unpack", (double)size * count / shortest(0, count, t, rounds) / 1e9, "GB/s", name);
	MPI_Type_free(&t);
}

static MPI_Datatype
vector(int block, int stride)
{
	MPI_Datatype t;

	MPI_Type_vector(BYTES / 8 / block, block, stride, MPI_DOUBLE, &t);
	return t;
}

/* Blocks of `least` to `most` doubles, with holes of one or two. */
static MPI_Datatype
indexed(int least, int most)
{
	static int lengths[BYTES / 8], at[BYTES / 8];
	int n = 0, next = 0;
	MPI_Datatype t;

	for (int left = BYTES / 8; left >= most; n++) {
		lengths[n] = least + n * 7 % (most - least + 1);
		at[n] = next;
		next += lengths[n] + 1 + n * 5 % 2;
		left -= lengths[n];
	}
	MPI_Type_indexed(n, lengths, at, MPI_DOUBLE, &t);
	return t;
}

static MPI_Datatype
structure(void)
{
	int lengths[] = {3, 1, 1};
	MPI_Aint at[] = {offsetof(struct particle, x), offsetof(struct particle, kind),
		offsetof(struct particle, tag)};
	MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_CHAR}, t, u;

	MPI_Type_create_struct(3, lengths, at, types, &t);
	MPI_Type_create_resized(t, 0, sizeof(struct particle), &u);
	MPI_Type_free(&t);
	return u;
}

static MPI_Datatype
pair(void)
{
	MPI_Datatype t;

	MPI_Type_dup(MPI_DOUBLE_INT, &t);
	return t;
}

/* A face of a cube of 128^3 doubles, across dimension d. */
static MPI_Datatype
face(int d)
{
	int sizes[] = {128, 128, 128}, subsizes[] = {128, 128, 128}, starts[] = {0, 0, 0};
	MPI_Datatype t;

	subsizes[d] = 2;
	MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &t);
	return t;
}

/* A matrix of 180 x 180 doubles, column by column. */
static MPI_Datatype
transposed(void)
{
	MPI_Datatype column, narrow, t;

	MPI_Type_vector(180, 1, 180, MPI_DOUBLE, &column);
	MPI_Type_create_resized(column, 0, sizeof(double), &narrow);
	MPI_Type_contiguous(180, narrow, &t);
	MPI_Type_free(&column);
	MPI_Type_free(&narrow);
	return t;
}

int
main(int argc, char **argv)
{
	long rounds = number(argc, argv, "--rounds", 200);

	MPI_Init(&argc, &argv);
	memory = calloc(1, ROOM);
	packed = calloc(1, ROOM);
	if (memory == NULL || packed == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	measure("type=vector_1", vector(1, 2), rounds);
	measure("type=vector_4", vector(4, 8), rounds);
	measure("type=vector_64", vector(64, 100), rounds);
	measure("type=indexed_1", indexed(1, 1), rounds);
	measure("type=indexed_1_3", indexed(1, 3), rounds);
	measure("type=indexed_8_40", indexed(8, 40), rounds);
	measure("type=struct", structure(), rounds);
	measure("type=pair", pair(), rounds);
	measure("type=face_x", face(0), rounds);
	measure("type=face_y", face(1), rounds);
	measure("type=face_z", face(2), rounds);
	measure("type=transposed", transposed(), rounds);
	MPI_Finalize();
	return 0;
}
