/* SPDX-License-Identifier: MIT
 *
 * MPI_MINLOC and MPI_MAXLOC on pairs that have no name.
 */
#ifndef MPI_CORE_OP_PAIR_H
#define MPI_CORE_OP_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <mpi/core/type.h>

struct pairing {
	enum basic value;
	enum basic index;
	size_t index_at;
	size_t extent;
	bool larger;			/* MPI_MAXLOC */
};

/*
 * The type of such pairs of two predefined types; *t is not held, NULL where values cannot be
 * compared or an index is no whole number.
   MPI_ERR_NO_MEM. */
int mpi_type_pair(struct mpi_rank *self, struct type *value, struct type *index, struct type **t);

/* Is it one of them? */
bool mpi_type_is_pair(const struct type *t);

struct pairing mpi_pairing(const struct type *t, bool larger);

/* inout[i] = in[i] op inout[i] */
void mpi_pairing_apply(const struct pairing *p, const void *in, void *inout, size_t count);

#endif
