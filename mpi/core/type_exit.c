/* SPDX-License-Identifier: MIT
 *
 * What the rank itself keeps of types, at the end.
 */
#include <stdlib.h>
#include <mpi/core/derived.h>
#include <mpi/core/rank.h>

/* Names are blocks that begin with the link to the next one. */
struct type_name {
	struct type_name *next;
};

void
mpi_type_exit(struct mpi_rank *self)
{
	struct type_name *n;
	struct derived *d;

	while ((n = self->type_names) != NULL) {
		self->type_names = n->next;
		free(n);
	}
	while ((d = self->unnamed_types) != NULL) {
		self->unnamed_types = d->next;
		mpi_type_take_back(self, &d->type);
	}
}
