/* SPDX-License-Identifier: MIT
 *
 * What the MPI test programs share.
 */
#include "check.h"

#define ERRORS_SHOWN 5

struct check
check_begin(int *argc, char ***argv)
{
	struct check c = {0};

	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &c.size);
	return c;
}

int
check_end(struct check *c)
{
	int all = 0;

	MPI_Allreduce(&c->errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
	if (c->rank == 0 && all == 0)
		printf("No errors\n");
	else if (c->rank == 0)
		printf("%d errors\n", all);
	return all != 0;
}

void
check_fail(struct check *c, const char *format, ...)
{
	va_list list;

	if (c->errors++ >= ERRORS_SHOWN)
		return;
	fprintf(stderr, "rank %d: ", c->rank);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fprintf(stderr, "\n");
}

void
check_fill(void *buffer, size_t len, int who, int which)
{
	unsigned char *b = buffer;

	for (size_t i = 0; i < len; i++)
		b[i] = check_byte(who, which, i);
}

int
check_same(const void *buffer, size_t len, int who, int which)
{
	const unsigned char *b = buffer;

	for (size_t i = 0; i < len; i++)
		if (b[i] != check_byte(who, which, i))
			return 0;
	return 1;
}
