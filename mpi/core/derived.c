/* SPDX-License-Identifier: MIT
 *
 * The life of derived types, and what they say about their making.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi/core/derived.h>
#include <mpi/core/rank.h>

const struct shape *
mpi_type_shape(const struct type *t)
{
	return t->flags & TYPE_PREDEFINED ? &mpi_basic_shapes[t->rep] :
		&((const struct derived *)t)->shape;
}

struct type *
mpi_type_hold(struct type *t)
{
	struct derived *d = derived_of(t);

	if (d != NULL)
		d->references++;
	return t;
}

/* One reference less; without any it joins the list of those to take down. */
static void
derived_let_go(struct type *t, struct derived **doomed)
{
	struct derived *d = t ? derived_of(t) : NULL;

	if (d == NULL || --d->references > 0)
		return;
	d->next = *doomed;
	*doomed = d;
}

/* Types may be nested as deep as the program likes: no recursion. */
void
mpi_type_release(struct type *t)
{
	struct derived *doomed = NULL, *d;

	derived_let_go(t, &doomed);
	while ((d = doomed) != NULL) {
		doomed = d->next;
		for (MPI_Count i = 0; i < d->contents.types; i++)
			derived_let_go(d->contents.type[i], &doomed);
		derived_let_go(d->built, &doomed);
		free(d->name);
		free(d->lists);
		free(d->contents.type);
		free(d->contents.values);
		free(d);
	}
}

MPI_Datatype
mpi_type_handle(struct mpi_rank *self, struct type *t)
{
	struct derived *d = derived_of(t);

	if (d == NULL)
		return mpi_type_predefined_handle(t);
	if (d->handle == 0)
		d->handle = mpi_handle_new(&self->tables[HANDLE_TYPE], d);
	return d->handle ? (MPI_Datatype)d->handle : MPI_DATATYPE_NULL;
}

int
mpi_type_give(struct mpi_rank *self, struct type *t, MPI_Datatype *handle)
{
	struct derived *d = derived_of(t);

	*handle = mpi_type_handle(self, t);
	if (*handle == MPI_DATATYPE_NULL) {
		mpi_type_release(t);
		return MPI_ERR_NO_MEM;
	}
	if (d != NULL)
		d->handles++;
	return MPI_SUCCESS;
}

void
mpi_type_take_back(struct mpi_rank *self, struct type *t)
{
	struct derived *d = derived_of(t);

	if (--d->handles == 0) {
		mpi_handle_drop(&self->tables[HANDLE_TYPE], d->handle);
		d->handle = 0;
	}
	mpi_type_release(t);
}

/* Which of the three lists takes an argument? */
static MPI_Count *
list_of(struct contents *c, char class)
{
	if (class == 'i' || (class == 'n' && !c->large))
		return &c->integers;
	return c->large ? &c->counts : &c->addresses;
}

static MPI_Count *
values_of(const struct contents *c, const struct contents *all, const MPI_Count *list)
{
	if (list == &c->integers)
		return all->values;
	return all->values + all->integers + (list == &c->counts ? all->addresses : 0);
}

/* Copy the arguments into their lists. -1: no memory. */
static int
write_down(struct contents *c, const struct argument *arguments)
{
	struct contents filled = {.large = c->large};

	for (const struct argument *a = arguments; a->class != 0; a++)
		*list_of(c, a->class) += a->count;
	c->values = malloc((size_t)(c->integers + c->addresses + c->counts + 1) *
		sizeof(*c->values));
	if (c->values == NULL)
		return -1;
	for (const struct argument *a = arguments; a->class != 0; a++) {
		MPI_Count *n = list_of(&filled, a->class);

		if (a->count > 0)
			memcpy(values_of(&filled, c, n) + *n, a->values,
				(size_t)a->count * sizeof(*a->values));
		*n += a->count;
	}
	return 0;
}

static int
hold_all(struct contents *c, struct type *const *types, MPI_Count count)
{
	c->type = malloc((size_t)(count + 1) * sizeof(struct type *));
	if (c->type == NULL)
		return -1;
	for (MPI_Count i = 0; i < count; i++)
		c->type[i] = mpi_type_hold(types[i]);
	c->types = count;
	return 0;
}

struct derived *
mpi_derived_new(int combiner, bool large, const struct argument *arguments,
	struct type *const *types, MPI_Count type_count)
{
	struct derived *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return NULL;
	d->references = 1;
	d->type.flags = TYPE_DEFINED;
	d->contents = (struct contents){.combiner = combiner, .large = large};
	if (hold_all(&d->contents, types, type_count) != 0 ||
		write_down(&d->contents, arguments) != 0) {
		mpi_type_release(&d->type);
		return NULL;
	}
	return d;
}
