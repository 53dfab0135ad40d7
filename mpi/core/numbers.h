/* SPDX-License-Identifier: MIT
 *
 * Counts and displacements as the program gave them: an array of int or of 64-bit numbers. The
 * array is the program's and is not copied; for operations that go on after the call it must stay
 * as it is until they are done.
 */
#ifndef MPI_CORE_NUMBERS_H
#define MPI_CORE_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <mpi.h>

struct numbers {
	const void *array;
	bool wide;			/* elements of 8 bytes, else of 4 */
};

#define NUMBERS(array) ((struct numbers){(array), sizeof((array)[0]) == sizeof(int64_t)})

static inline MPI_Count
numbers_at(struct numbers n, size_t i)
{
	return n.wide ? ((const int64_t *)n.array)[i] : ((const int32_t *)n.array)[i];
}

#endif
