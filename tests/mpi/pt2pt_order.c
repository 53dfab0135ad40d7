/* SPDX-License-Identifier: MIT
 *
 * Messages of one sender are received in order, also by wildcards, whether they came before their
 * receives or after, and whatever their sizes.
 */
#include "check.h"

#define MESSAGES 300

static const int sizes[] = {4, 90, 2000, 8, 9000, 100, 40000, 4};
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))
#define LARGEST 40000

static void
sender(struct check *c)
{
	int *buffer = malloc(LARGEST);

	for (int i = 0; i < MESSAGES; i++) {
		buffer[0] = i;
		MPI_Send(buffer, sizes[i % SIZES], MPI_BYTE, 0, i % 3, MPI_COMM_WORLD);
	}
	(void)c;
	free(buffer);
}

/* From any source, with any tag: each source's messages come in order. */
static void
receive_any(struct check *c, int *buffer, int *next)
{
	for (int n = 0; n < MESSAGES * (c->size - 1); n++) {
		MPI_Status status;
		int count, i, from;

		MPI_Recv(buffer, LARGEST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
			&status);
		MPI_Get_count(&status, MPI_BYTE, &count);
		from = status.MPI_SOURCE;
		i = next[from]++;
		CHECK(c, buffer[0] == i && count == sizes[i % SIZES] && status.MPI_TAG == i % 3);
	}
}

/* By tag, one tag after the other: order within the tag. */
static void
receive_tags(struct check *c, int *buffer)
{
	for (int from = 1; from < c->size; from++)
		for (int tag = 2; tag >= 0; tag--)
			for (int i = tag; i < MESSAGES; i += 3) {
				MPI_Recv(buffer, LARGEST, MPI_BYTE, from, tag, MPI_COMM_WORLD,
					MPI_STATUS_IGNORE);
				CHECK(c, buffer[0] == i);
			}
}

/* As above, but the sends must not wait for receives in another order: by non-blocking sends. */
static void
isender(void)
{
	static const int tags[] = {0, 1, 2};
	int *buffers = malloc(MESSAGES * sizeof(int));
	MPI_Request *requests = malloc(MESSAGES * sizeof(MPI_Request));

	for (int i = 0; i < MESSAGES; i++) {
		buffers[i] = i;
		MPI_Isend(&buffers[i], 1, MPI_INT, 0, tags[i % 3], MPI_COMM_WORLD, &requests[i]);
	}
	MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
	free(requests);
	free(buffers);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	int *buffer = malloc(LARGEST), *next = calloc((size_t)c.size, sizeof(int));

	if (c.rank == 0)
		receive_any(&c, buffer, next);
	else
		sender(&c);
	MPI_Barrier(MPI_COMM_WORLD);
	if (c.rank == 0)
		receive_tags(&c, buffer);
	else
		isender();
	free(next);
	free(buffer);
	return check_end(&c);
}
