/* SPDX-License-Identifier: MIT
 *
 * A message of more than 4 GiB from a few pages of memory: all elements of its types lie over one
 * another.
 */
#include "check.h"

#define PAGE 65536
#define PAGES 65537

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	static unsigned char out[PAGE], in[PAGE];
	MPI_Datatype page, t;
	MPI_Count bytes = 0, elements = 0;
	int narrow = 0;
	MPI_Request r;
	MPI_Status s;

	MPI_Type_contiguous(PAGE, MPI_BYTE, &page);
	MPI_Type_create_hvector_c(PAGES, 1, 0, page, &t);
	MPI_Type_commit(&t);
	check_fill(out, PAGE, c.rank, 1);
	MPI_Isend(out, 1, t, (c.rank + 1) % c.size, 0, MPI_COMM_WORLD, &r);
	MPI_Recv(in, 1, t, (c.rank + c.size - 1) % c.size, 0, MPI_COMM_WORLD, &s);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Get_count_c(&s, MPI_BYTE, &bytes);
	MPI_Get_elements_c(&s, t, &elements);
	MPI_Get_count(&s, MPI_BYTE, &narrow);
	CHECK(&c, bytes == (MPI_Count)PAGE * PAGES && elements == bytes && narrow == MPI_UNDEFINED);
	CHECK(&c, check_same(in, PAGE, (c.rank + c.size - 1) % c.size, 1));
	MPI_Type_free(&page);
	MPI_Type_free(&t);
	return check_end(&c);
}
