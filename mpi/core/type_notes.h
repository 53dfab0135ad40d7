/* SPDX-License-Identifier: MIT
 *
 * Notes: what a program attaches to predefined types, a name and attributes. The types themselves
 * are constant and shared, so it is kept with the rank, in a list: few programs do it, and for few
 * types.
 */
#ifndef MPI_CORE_TYPE_NOTES_H
#define MPI_CORE_TYPE_NOTES_H

#include <mpi/core/attr.h>
#include <mpi/core/type.h>

struct type_notes {
	struct type_notes *next;
	const struct type *type;
	char *name;			/* NULL: none was set */
	struct attr_list attributes;
};

/* The notes of a predefined type, or NULL. */
struct type_notes *mpi_type_notes_find(struct mpi_rank *self, const struct type *t);

/* The same; they are made if there are none. NULL: no memory. */
struct type_notes *mpi_type_notes_make(struct mpi_rank *self, const struct type *t);

#endif
