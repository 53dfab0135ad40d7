/* SPDX-License-Identifier: MIT
 *
 * Twelve ranks in a cluster of 2 MB have room for a program: 12 KB of data each while the library
 * has all that it ever keeps for itself, that is after messages of medium size and collectives of
 * many sizes on two communicators. And elements that are larger than the room that collectives have
 * there are combined all the same.
 */
#include "check.h"

#define DATA 12288
#define MEDIUM 1500
#define ELEMENT 600			/* ints */

static void
send_around(struct check *c, unsigned char *data)
{
	int to = (c->rank + 1) % c->size, from = (c->rank + c->size - 1) % c->size;

	for (int bytes = 1; bytes <= DATA / 2; bytes *= 2) {
		check_fill(data, (size_t)bytes, c->rank, bytes);
		MPI_Sendrecv(data, bytes, MPI_BYTE, to, bytes, data + DATA / 2, bytes, MPI_BYTE,
			from, bytes, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		CHECK(c, check_same(data + DATA / 2, (size_t)bytes, from, bytes));
	}
}

/* Several on their way at a time, before anybody receives. */
static void
flood(struct check *c, unsigned char *data)
{
	MPI_Request r[4];
	int to = (c->rank + 1) % c->size, from = (c->rank + c->size - 1) % c->size;

	for (int i = 0; i < 4; i++) {
		check_fill(data + i * MEDIUM, MEDIUM, c->rank, i);
		MPI_Isend(data + i * MEDIUM, MEDIUM, MPI_BYTE, to, i, MPI_COMM_WORLD, &r[i]);
	}
	for (int i = 0; i < 4; i++) {
		MPI_Recv(data + DATA / 2, MEDIUM, MPI_BYTE, from, i, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
		CHECK(c, check_same(data + DATA / 2, MEDIUM, from, i));
	}
	MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

static void
collect(struct check *c, MPI_Comm comm, int *words)
{
	int half = DATA / 2 / (int)sizeof(*words), *out = words + half;

	for (int n = 1; n <= half; n *= 2) {
		for (int i = 0; i < n; i++)
			words[i] = c->rank + i;
		MPI_Allreduce(words, out, n, MPI_INT, MPI_SUM, comm);
		CHECK(c, out[n - 1] == c->size * (c->size - 1) / 2 + c->size * (n - 1));
		MPI_Bcast(words, n, MPI_INT, n % c->size, comm);
		CHECK(c, words[n - 1] == n % c->size + n - 1);
		if (n * c->size > half)
			continue;
		MPI_Allgather(&words[0], n, MPI_INT, out, n, MPI_INT, comm);
		CHECK(c, out[n * c->size - 1] == n % c->size + n - 1);
	}
	MPI_Barrier(comm);
}

static void
add_elements(void *in, void *inout, int *len, MPI_Datatype *type)
{
	int bytes;

	MPI_Type_size(*type, &bytes);
	for (int i = 0; i < *len * bytes / (int)sizeof(int); i++)
		((int *)inout)[i] += ((int *)in)[i];
}

static void
combine_large(struct check *c, int *words)
{
	MPI_Datatype element;
	MPI_Op add;

	MPI_Type_contiguous(ELEMENT, MPI_INT, &element);
	MPI_Type_commit(&element);
	MPI_Op_create(add_elements, 1, &add);
	for (int i = 0; i < ELEMENT; i++)
		words[i] = c->rank;
	MPI_Allreduce(MPI_IN_PLACE, words, 1, element, add, MPI_COMM_WORLD);
	CHECK(c, words[0] == c->size * (c->size - 1) / 2 && words[ELEMENT - 1] == words[0]);
	MPI_Op_free(&add);
	MPI_Type_free(&element);
}

/* A block for each rank, all of one element. */
static void
scatter_large(struct check *c, int *words)
{
	int each = ELEMENT / c->size, *out = words + ELEMENT;
	MPI_Datatype element;
	MPI_Op add;

	MPI_Type_contiguous(each, MPI_INT, &element);
	MPI_Type_commit(&element);
	MPI_Op_create(add_elements, 1, &add);
	for (int i = 0; i < ELEMENT; i++)
		words[i] = c->rank + i;
	MPI_Reduce_scatter_block(words, out, 1, element, add, MPI_COMM_WORLD);
	CHECK(c, out[each - 1] == c->size * (c->size - 1) / 2 + c->size *
		(c->rank * each + each - 1));
	MPI_Op_free(&add);
	MPI_Type_free(&element);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	unsigned char *data = malloc(DATA);
	MPI_Comm twin;
	int fits = data != NULL, all;

	MPI_Allreduce(&fits, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	CHECK(&c, all == 1);
	if (all) {
		MPI_Comm_dup(MPI_COMM_WORLD, &twin);
		send_around(&c, data);
		flood(&c, data);
		collect(&c, MPI_COMM_WORLD, (int *)(void *)data);
		collect(&c, twin, (int *)(void *)data);
		combine_large(&c, (int *)(void *)data);
		scatter_large(&c, (int *)(void *)data);
		MPI_Comm_free(&twin);
	}
	free(data);
	return check_end(&c);
}
