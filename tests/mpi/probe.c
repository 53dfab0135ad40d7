/* SPDX-License-Identifier: MIT
 *
 * Probe and Iprobe tell source, tag and length of a message, which is then received.
 */
#include "check.h"

static const int sizes[] = {0, 5, 96, 97, 5000, 50000};
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

static void
receive(struct check *c, const MPI_Status *probed)
{
	MPI_Status status;
	unsigned char *buffer;
	int count, again;

	MPI_Get_count(probed, MPI_BYTE, &count);
	buffer = malloc((size_t)count + 1);
	MPI_Recv(buffer, count, MPI_BYTE, probed->MPI_SOURCE, probed->MPI_TAG, MPI_COMM_WORLD,
		&status);
	MPI_Get_count(&status, MPI_BYTE, &again);
	CHECK(c, again == count && count == sizes[probed->MPI_TAG]);
	CHECK(c, check_same(buffer, (size_t)count, probed->MPI_SOURCE, probed->MPI_TAG));
	free(buffer);
}

static void
receiver(struct check *c)
{
	for (int n = 0; n < SIZES * (c->size - 1); n++) {
		MPI_Status status;
		int flag = 0;

		if (n % 2 == 0)
			MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		while (n % 2 != 0 && !flag)
			MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
		receive(c, &status);
	}
}

static void
sender(struct check *c)
{
	unsigned char *buffer = malloc(50000);

	for (int i = 0; i < SIZES; i++) {
		check_fill(buffer, (size_t)sizes[i], c->rank, i);
		MPI_Send(buffer, sizes[i], MPI_BYTE, 0, i, MPI_COMM_WORLD);
	}
	free(buffer);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	int flag = 1;

	if (c.rank == 0)
		receiver(&c);
	else
		sender(&c);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	CHECK(&c, flag == 0);
	return check_end(&c);
}
