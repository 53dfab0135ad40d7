/* SPDX-License-Identifier: MIT
 *
 * What the rank itself keeps of types: notes, and predefined types without a name.
 */
#include <stdlib.h>
#include <mpi/core/derived.h>
#include <mpi/core/rank.h>
#include <mpi/core/type_notes.h>

struct type_notes *
mpi_type_notes_find(struct mpi_rank *self, const struct type *t)
{
	struct type_notes *n = self->type_notes;

	while (n != NULL && n->type != t)
		n = n->next;
	return n;
}

struct type_notes *
mpi_type_notes_make(struct mpi_rank *self, const struct type *t)
{
	struct type_notes *n = mpi_type_notes_find(self, t);

	if (n == NULL && (n = calloc(1, sizeof(*n))) != NULL) {
		n->type = t;
		n->next = self->type_notes;
		self->type_notes = n;
	}
	return n;
}

bool
mpi_type_attributes(struct mpi_rank *self, struct type *t, struct attr_object *o)
{
	struct derived *d = derived_of(t);
	struct type_notes *n = d ? NULL : mpi_type_notes_make(self, t);

	*o = (struct attr_object){d ? &d->attributes : n ? &n->attributes
		: NULL, ATTR_TYPE, (uintptr_t)mpi_type_handle(self, t)};
	return o->list != NULL;
}

void
mpi_type_exit(struct mpi_rank *self)
{
	struct type_notes *n;
	struct derived *d;

	while ((n = self->type_notes) != NULL) {
		self->type_notes = n->next;
		free(n->name);
		free(n);
	}
	while ((d = self->unnamed_types) != NULL) {
		self->unnamed_types = d->next;
		mpi_type_take_back(self, &d->type);
	}
}
