/* SPDX-License-Identifier: MIT
 *
 * Error classes and codes of the program. They count up from MPI_ERR_LASTCODE + 1; a number is not
 * used again.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi.h>
#include <mpi/core/errcodes.h>
#include <mpi/core/rank.h>

#define FIRST (MPI_ERR_LASTCODE + 1)

struct user_error {
	int class;			/* itself if it is a class; -1: removed */
	char *text;			/* or NULL */
};

struct user_errors {
	struct user_error *of;		/* code FIRST and the ones after it */
	int count;
	int room;
};

static struct user_error *
errcodes_find(const struct mpi_rank *self, int code)
{
	struct user_errors *u = self->user_errors;

	return u && code >= FIRST && code - FIRST < u->count && u->of[code - FIRST].class >= 0
		? &u->of[code - FIRST] : NULL;
}

int
mpi_errcode_class(const struct mpi_rank *self, int code)
{
	struct user_error *e = errcodes_find(self, code);

	if (e != NULL)
		return e->class;
	return mpi_error_text(code) ? code : -1;
}

const char *
mpi_errcode_text(const struct mpi_rank *self, int code)
{
	struct user_error *e = errcodes_find(self, code);

	if (e != NULL)
		return e->text ? e->text : "";
	return mpi_error_text(code);
}

int
mpi_errcode_last(const struct mpi_rank *self)
{
	int last = self->user_errors ? FIRST + self->user_errors->count - 1 : MPI_ERR_LASTCODE;

	while (last > MPI_ERR_LASTCODE && errcodes_find(self, last) == NULL)
		last--;
	return last;
}

static struct user_errors *
errcodes_make_room(struct mpi_rank *self)
{
	struct user_errors *u = self->user_errors;
	struct user_error *more;
	int room;

	if (u == NULL)
		u = self->user_errors = calloc(1, sizeof(*u));
	if (u == NULL || u->count < u->room)
		return u;
	room = u->room ? 2 * u->room : 8;
	more = realloc(u->of, (size_t)room * sizeof(*more));
	if (more == NULL)
		return NULL;
	u->of = more;
	u->room = room;
	return u;
}

/* class -1: the code is a class */
static int
add(struct mpi_rank *self, int class, int *code)
{
	struct user_errors *u = errcodes_make_room(self);

	if (u == NULL)
		return MPI_ERR_NO_MEM;
	*code = FIRST + u->count;
	u->of[u->count++] = (struct user_error){class < 0 ? *code : class, NULL};
	return MPI_SUCCESS;
}

int
mpi_errcode_add_class(struct mpi_rank *self, int *class)
{
	return add(self, -1, class);
}

int
mpi_errcode_add(struct mpi_rank *self, int class, int *code)
{
	return class >= 0 && mpi_errcode_class(self, class) == class ? add(self, class, code) :
		MPI_ERR_ARG;
}

int
mpi_errcode_name(struct mpi_rank *self, int code, const char *text)
{
	struct user_error *e = errcodes_find(self, code);
	size_t len = strnlen(text, MPI_MAX_ERROR_STRING);
	char *copy;

	if (e == NULL || len == MPI_MAX_ERROR_STRING)
		return MPI_ERR_ARG;
	copy = strdup(text);
	if (copy == NULL)
		return MPI_ERR_NO_MEM;
	free(e->text);
	e->text = copy;
	return MPI_SUCCESS;
}

int
mpi_errcode_unname(struct mpi_rank *self, int code)
{
	struct user_error *e = errcodes_find(self, code);

	if (e == NULL || e->text == NULL)
		return MPI_ERR_ARG;
	free(e->text);
	e->text = NULL;
	return MPI_SUCCESS;
}

/* Has a class codes beside itself? */
static bool
has_codes(const struct user_errors *u, int class)
{
	for (int i = 0; i < u->count; i++)
		if (u->of[i].class == class && FIRST + i != class)
			return true;
	return false;
}

int
mpi_errcode_remove(struct mpi_rank *self, int code, bool is_class)
{
	struct user_error *e = errcodes_find(self, code);

	if (e == NULL || (e->class == code) != is_class)
		return MPI_ERR_ARG;
	if (e->text != NULL || has_codes(self->user_errors, code))
		return MPI_ERR_OTHER;
	e->class = -1;
	return MPI_SUCCESS;
}

void
mpi_errcode_exit(struct mpi_rank *self)
{
	struct user_errors *u = self->user_errors;

	for (int i = 0; u != NULL && i < u->count; i++)
		free(u->of[i].text);
	if (u != NULL)
		free(u->of);
	free(u);
	self->user_errors = NULL;
}
