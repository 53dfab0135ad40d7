/* SPDX-License-Identifier: MIT
 *
 * Collectives: from the description of one to its schedule (what is in place, what is copied first,
 * and then the algorithm of choice), the blocking forms, and the few that the library itself needs.
 */
#include <mpi/coll/choose.h>
#include <mpi/coll/central.h>
#include <mpi/coll/flags.h>

void
mpi_side_hold(struct sched *s, const struct side *side, int blocks)
{
	if (side->types == NULL && side->type != NULL)
		mpi_sched_hold(s, side->type);
	for (int i = 0; side->types != NULL && i < blocks; i++)
		mpi_sched_hold(s, mpi_type_find(side->types[i]));
}

/* In place: what leaves is what lies in the places, packed into a copy. */
static struct side
copy_blocks(struct sched *s, const struct side *in)
{
	size_t n = (size_t)s->size, total = 0;
	int64_t *counts = mpi_sched_scratch(s, n * sizeof(*counts)), *displs = mpi_sched_scratch(s,
		n * sizeof(*displs));
	struct side out = {.counts = {counts, true}, .displs = {displs, true}, .datatype = MPI_BYTE,
		.type = mpi_type_find(MPI_BYTE)};

	if (counts == NULL || displs == NULL)
		return *in;
	for (size_t i = 0; i < n; i++) {
		counts[i] = (int64_t)span_size(side_block(in, (int)i));
		displs[i] = (int64_t)total;
		total += (size_t)counts[i];
	}
	out.buffer = mpi_sched_scratch(s, total);
	for (size_t i = 0; i < n; i++)
		mpi_sched_copy(s, side_block(&out, (int)i), side_block(in, (int)i));
	mpi_sched_round(s);
	return out;
}

static bool
computes(enum coll_kind kind)
{
	return kind >= COLL_REDUCE && kind <= COLL_EXSCAN;
}

static void
write_reduce_scatter(struct sched *s, struct work *w)
{
	const struct side *recv = &w->k->recv;
	MPI_Count *counts = mpi_sched_scratch(s, (size_t)s->size * sizeof(*counts)), total = 0;

	if (counts == NULL)
		return;
	for (int i = 0; i < s->size; i++)
		total += counts[i] = recv->counts.array ? numbers_at(recv->counts, (size_t)i) :
			recv->count;
	w->out.count = counts[s->rank];
	w->in.count = total;
	w->counts = counts;
	mpi_choose_write(s, w);
}

/* Operands and results; of a scan, and of an allgather, what this rank gives lies in its place. */
static void
write_intra(struct sched *s, const struct collective *k)
{
	struct side packed;
	struct work w = {.k = k, .give = &k->send, .get = &k->recv, .root = k->root,
		.even = k->even};

	if (k->kind == COLL_BCAST || computes(k->kind)) {
		w.out = (struct span){k->recv.buffer, k->recv.count, k->recv.type};
		w.in = (struct span){k->send.in_place ? k->recv.buffer : k->send.buffer,
			k->recv.count, k->recv.type};
	}
	if (k->kind == COLL_SCAN)
		mpi_sched_copy(s, w.out, w.in);
	if (k->kind == COLL_ALLGATHER && !k->send.in_place)
		mpi_sched_copy(s, side_block(&k->recv, s->rank), side_block(&k->send, 0));
	mpi_sched_round(s);
	if (k->kind == COLL_ALLTOALL && k->send.in_place) {
		packed = copy_blocks(s, &k->recv);
		w.give = &packed;
	}
	if (k->kind >= COLL_NEIGHBOR_ALLGATHER)
		mpi_neighbor_write(s, k);
	else if (k->kind == COLL_REDUCE_SCATTER)
		write_reduce_scatter(s, &w);
	else
		mpi_choose_write(s, &w);
}

void
mpi_coll_write(struct sched *s, const struct collective *k)
{
	int peers = mpi_comm_peers(s->c);

	if (k->kind < COLL_NEIGHBOR_ALLGATHER) {
		mpi_side_hold(s, &k->send, peers);
		mpi_side_hold(s, &k->recv, peers);
	}
	/* where nothing is given to a root on the other side, operation and type may be anything */
	if (computes(k->kind) && !(k->kind == COLL_REDUCE && k->root == MPI_PROC_NULL))
		s->op = mpi_op_bind(s->self, k->op, k->recv.datatype);
	if (mpi_comm_is_inter(s->c))
		mpi_inter_write(s, k);
	else
		write_intra(s, k);
}

/* The algorithm of choice of a call that need not be written as a schedule, or NULL. */
static const struct algorithm *
way_of(struct mpi_rank *self, struct comm *c, const struct collective *k)
{
	bool has_one = !mpi_comm_is_inter(c) && k->kind < COLL_NEIGHBOR_ALLGATHER;

	return has_one ? mpi_choose(self, c, k) : NULL;
}

int
mpi_coll_run(struct mpi_rank *self, struct comm *c, const struct collective *k)
{
	const struct algorithm *a = way_of(self, c, k);
	struct sched *s;
	int err;

	if (a != NULL && a->run != NULL && a->run(self, c, k, &err))
		return err;
	s = mpi_sched_new(self, c);
	if (s == NULL)
		return MPI_ERR_NO_MEM;
	s->blocking = true;
	mpi_coll_write(s, k);
	return mpi_sched_run(s);
}

/* It goes the way of a blocking call where that can be started. */
int
mpi_coll_start(struct mpi_rank *self, struct comm *c, const struct collective *k,
	struct request *outer)
{
	const struct algorithm *a = way_of(self, c, k);
	struct sched *s;

	if (a != NULL && mpi_started(self, c, k, (enum starts)a->starts, outer))
		return MPI_SUCCESS;
	s = mpi_sched_new(self, c);
	if (s == NULL)
		return MPI_ERR_NO_MEM;
	mpi_coll_write(s, k);
	mpi_sched_start(s, outer);
	return MPI_SUCCESS;
}

/* --- those that communicators are made with --- */

int
mpi_barrier(struct mpi_rank *self, struct comm *c)
{
	struct sched *s;

	if (mpi_central_world(self, c))
		return MPI_SUCCESS;
	s = mpi_sched_new(self, c);
	if (s == NULL)
		return MPI_ERR_NO_MEM;
	mpi_algorithm_barrier_dissemination.write(s, NULL);
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
