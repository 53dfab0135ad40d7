/* SPDX-License-Identifier: MIT
 *
 * Each rank has its own globals, static data, thread-local data and libc state.
 */
#include <errno.h>
#include "check.h"

static int zero;
static int seven = 7;
static int *pointer = &seven;
static _Thread_local int local = 3;

static void
touch(int rank)
{
	static int calls;

	zero += rank + 1;
	*pointer += rank;
	local *= rank + 2;
	calls += rank;
	errno = rank + 100;
	srand((unsigned)rank + 1);
	seven += calls;
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	int first;

	touch(c.rank);
	MPI_Barrier(MPI_COMM_WORLD);
	first = rand();
	CHECK(&c, zero == c.rank + 1);
	CHECK(&c, seven == 7 + 2 * c.rank);
	CHECK(&c, local == 3 * (c.rank + 2));
	MPI_Barrier(MPI_COMM_WORLD);
	srand((unsigned)c.rank + 1);
	CHECK(&c, rand() == first);
	return check_end(&c);
}
