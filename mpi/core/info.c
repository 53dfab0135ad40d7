/* SPDX-License-Identifier: MIT
 *
 * Info objects.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi/core/info.h>
#include <mpi/core/rank.h>

static const struct {
	int level;
	const char *name;
} levels[] = {
	{MPI_THREAD_SINGLE, "MPI_THREAD_SINGLE"}, {MPI_THREAD_FUNNELED, "MPI_THREAD_FUNNELED"},
	{MPI_THREAD_SERIALIZED, "MPI_THREAD_SERIALIZED"},
		{MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE"},
};

#define LEVELS (sizeof(levels) / sizeof(levels[0]))

const char *
mpi_info_level_name(int level)
{
	size_t i = 0;

	while (i < LEVELS - 1 && levels[i].level < level)
		i++;
	return levels[i].name;
}

int
mpi_info_level(const char *name)
{
	for (size_t i = 0; name != NULL && i < LEVELS; i++)
		if (strcmp(name, levels[i].name) == 0)
			return levels[i].level;
	return MPI_THREAD_SINGLE;
}

/* How the job was started, made when somebody asks. */
static struct info *
environment(struct mpi_rank *self)
{
	char ranks[16];

	if (self->environment == NULL)
		self->environment = mpi_info_new();
	if (self->environment == NULL || self->environment->count > 0 || self->state == RANK_FRESH)
		return self->environment;
	snprintf(ranks, sizeof(ranks), "%d", self->world_size);
	mpi_info_set(self->environment, "maxprocs", ranks);
	mpi_info_set(self->environment, "soft", ranks);
	mpi_info_set(self->environment, "thread_level", mpi_info_level_name(self->thread_level));
	return self->environment;
}

struct info *
mpi_info_find(struct mpi_rank *self, MPI_Info handle)
{
	if (handle == MPI_INFO_ENV)
		return environment(self);
	return mpi_handle_find(&self->tables[HANDLE_INFO], (uintptr_t)handle);
}

struct info *
mpi_info_new(void)
{
	return calloc(1, sizeof(struct info));
}

static void
drop_pair(struct info_pair *p)
{
	free(p->key);
	free(p->value);
}

void
mpi_info_drop(struct info *i)
{
	for (int k = 0; i != NULL && k < i->count; k++)
		drop_pair(&i->pair[k]);
	if (i != NULL)
		free(i->pair);
	free(i);
}

int
mpi_info_publish(struct mpi_rank *self, struct info *i, MPI_Info *handle)
{
	uintptr_t h = i ? mpi_handle_new(&self->tables[HANDLE_INFO], i) : 0;

	if (h == 0) {
		mpi_info_drop(i);
		return MPI_ERR_NO_MEM;
	}
	i->handle = h;
	*handle = (MPI_Info)h;
	return MPI_SUCCESS;
}

static struct info_pair *
info_find(const struct info *i, const char *key)
{
	for (int k = 0; i != NULL && k < i->count; k++)
		if (strcmp(i->pair[k].key, key) == 0)
			return &i->pair[k];
	return NULL;
}

const char *
mpi_info_value(const struct info *i, const char *key)
{
	struct info_pair *p = info_find(i, key);

	return p ? p->value : NULL;
}

static int
replace(struct info_pair *p, const char *value)
{
	char *copy = strdup(value);

	if (copy == NULL)
		return MPI_ERR_NO_MEM;
	free(p->value);
	p->value = copy;
	return MPI_SUCCESS;
}

static int
info_make_room(struct info *i)
{
	int room = i->room ? 2 * i->room : 8;
	struct info_pair *more;

	if (i->count < i->room)
		return MPI_SUCCESS;
	more = realloc(i->pair, (size_t)room * sizeof(*more));
	if (more == NULL)
		return MPI_ERR_NO_MEM;
	i->pair = more;
	i->room = room;
	return MPI_SUCCESS;
}

int
mpi_info_set(struct info *i, const char *key, const char *value)
{
	struct info_pair *p = info_find(i, key), made;

	if (p != NULL)
		return replace(p, value);
	made = (struct info_pair){strdup(key), strdup(value)};
	if (made.key == NULL || made.value == NULL || info_make_room(i) != MPI_SUCCESS) {
		drop_pair(&made);
		return MPI_ERR_NO_MEM;
	}
	i->pair[i->count++] = made;
	return MPI_SUCCESS;
}

int
mpi_info_delete(struct info *i, const char *key)
{
	struct info_pair *p = info_find(i, key);

	if (p == NULL)
		return MPI_ERR_INFO_NOKEY;
	drop_pair(p);
	i->count--;
	memmove(p, p + 1, (size_t)(&i->pair[i->count] - p) * sizeof(*p));
	return MPI_SUCCESS;
}

struct info *
mpi_info_copy(const struct info *from)
{
	struct info *i = mpi_info_new();

	for (int k = 0; i != NULL && from != NULL && k < from->count; k++) {
		if (mpi_info_set(i, from->pair[k].key, from->pair[k].value) != MPI_SUCCESS) {
			mpi_info_drop(i);
			return NULL;
		}
	}
	return i;
}
