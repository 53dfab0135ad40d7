/* SPDX-License-Identifier: MIT
 *
 * Making communicators.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi/api/newcomm.h>
#include <mpi/core/info.h>
#include <mpi/core/topology.h>

void
newcomm_abandon(struct mpi_rank *self, struct comm *made)
{
	if (made != NULL && mpi_comm_free(self, made) != MPI_SUCCESS) {
		/* a callback does not want its attribute to go: the handle goes all the same */
		mpi_handle_drop(&self->tables[HANDLE_COMM], made->handle);
		mpi_comm_release(self, made);
	}
}

int
newcomm_agree(struct mpi_rank *self, struct circle circle, struct newcomm n, MPI_Comm *handle)
{
	struct agreement a = {.circle = circle, .mine = {.agrees = n.err == MPI_SUCCESS}};
	int err = mpi_agree(self, &a);

	*handle = MPI_COMM_NULL;
	if (err != MPI_SUCCESS) {
		newcomm_abandon(self, n.made);
		return n.err != MPI_SUCCESS ? n.err : err;
	}
	if (n.made == NULL) {
		mpi_ids_give_back(&self->ids, a.id);
		return MPI_SUCCESS;
	}
	mpi_comm_number(n.made, a.id);
	*handle = mpi_comm_handle(n.made);
	return MPI_SUCCESS;
}

int
newcomm_of(struct mpi_rank *self, struct comm *c, struct newcomm n, MPI_Comm *handle)
{
	return newcomm_agree(self, mpi_circle_of(c), n, handle);
}

struct newcomm
newcomm_group(struct mpi_rank *self, struct comm *like, struct group *g)
{
	struct comm *made = g ? mpi_comm_new(self, g, NULL, like->errhandler) : NULL;

	if (made != NULL)
		mpi_comm_come_from(made, like);
	return (struct newcomm){made, made ? MPI_SUCCESS : MPI_ERR_NO_MEM};
}

static const char *const known_hints[] = {
	"mpi_assert_no_any_tag", "mpi_assert_no_any_source", "mpi_assert_exact_length",
		"mpi_assert_allow_overtaking",
	"mpi_assert_strict_start_ordering", "mpi_assert_memory_alloc_kinds",
	"mpi_memory_alloc_kinds", "atoll_coll",
};

struct info *
newcomm_hints(const struct info *from)
{
	struct info *hints = mpi_info_new();

	for (size_t i = 0; hints != NULL && i < sizeof(known_hints) / sizeof(known_hints[0]); i++) {
		const char *value = mpi_info_value(from, known_hints[i]);

		if (value != NULL)
			mpi_info_set(hints, known_hints[i], value);
	}
	if (hints != NULL && hints->count == 0) {
		mpi_info_drop(hints);
		hints = NULL;
	}
	return hints;
}

struct newcomm
newcomm_copy(struct mpi_rank *self, struct comm *c, const struct info *info)
{
	struct comm *made = mpi_comm_new(self, mpi_group_hold(c->group), c->remote
		? mpi_group_hold(c->remote) : NULL, c->errhandler);
	int err = made ? MPI_SUCCESS : MPI_ERR_NO_MEM;

	if (err == MPI_SUCCESS)
		err = mpi_attr_copy(self, (struct attr_object){&c->attributes, ATTR_COMM,
			c->handle},
			(struct attr_object){&made->attributes, ATTR_COMM, made->handle});
	if (err != MPI_SUCCESS) {
		newcomm_abandon(self, made);
		return (struct newcomm){NULL, err};
	}
	mpi_comm_come_from(made, c);
	made->topology = mpi_topology_hold(c->topology);
	made->info = info ? newcomm_hints(info) : NULL;
	return (struct newcomm){made, MPI_SUCCESS};
}
