/* SPDX-License-Identifier: MIT
 *
 * Blocking collectives, and the few that the library itself needs.
 */
#include <mpi/coll/choose.h>
#include <mpi/coll/meet.h>

int
mpi_barrier(struct mpi_rank *self, struct comm *c)
{
	struct sched *s;

	if (mpi_meet_all(self, c))
		return MPI_SUCCESS;
	s = mpi_sched_new(self, c);
	if (s == NULL)
		return MPI_ERR_NO_MEM;
	mpi_barrier_dissemination(s);
	return mpi_sched_run(s);
}

int
mpi_coll_run(struct mpi_rank *self, struct comm *c, const struct collective *k)
{
	const struct algorithm *a;
	struct sched *s;
	int err;

	if (!mpi_comm_is_inter(c) && k->kind < COLL_NEIGHBOR_ALLGATHER) {
		a = mpi_choose(self, c, k);
		if (a != NULL && a->run != NULL && a->run(self, c, k, &err))
			return err;
	}
	s = mpi_sched_new(self, c);
	if (s == NULL)
		return MPI_ERR_NO_MEM;
	s->blocking = true;
	mpi_coll_write(s, k);
	return mpi_sched_run(s);
}

static struct side
bytes_side(const void *buffer, size_t bytes)
{
	return (struct side){.buffer = (void *)(uintptr_t)buffer, .count = (MPI_Count)bytes,
		.datatype = MPI_BYTE, .type = mpi_type_find(MPI_BYTE)};
}

int
mpi_bcast(struct mpi_rank *self, struct comm *c, void *buffer, size_t bytes, int root)
{
	return mpi_coll_run(self, c, &(struct collective){.kind = COLL_BCAST,
		.recv = bytes_side(buffer, bytes), .root = root});
}

int
mpi_allreduce(struct mpi_rank *self, struct comm *c, const struct reduction *r)
{
	struct side side = {.count = r->count, .datatype = r->type, .type = mpi_type_find(r->type)};
	struct collective k = {.kind = COLL_ALLREDUCE, .send = side, .recv = side, .op = r->op};

	k.send.buffer = (void *)(uintptr_t)r->in;
	k.recv.buffer = r->out;
	k.send.in_place = r->in == r->out;
	return mpi_coll_run(self, c, &k);
}

int
mpi_allgather(struct mpi_rank *self, struct comm *c, const void *in, void *out, size_t bytes)
{
	struct collective k = {.kind = COLL_ALLGATHER, .send = bytes_side(in, bytes),
		.recv = bytes_side(out, bytes), .even = true};

	return mpi_coll_run(self, c, &k);
}
