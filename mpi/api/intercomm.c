/* SPDX-License-Identifier: MIT
 *
 * Chapter intercommunicators.
 */
#include <stdlib.h>
#include <mpi_impl.h>
#include <mpi/api/intercomm.h>
#include <mpi/api/newcomm.h>
#include <mpi/coll/coll.h>
#include <mpi/pt2pt/pt2pt.h>

int
impl_Comm_test_inter(struct call *call, const struct args_Comm_test_inter *a)
{
	(void)call;
	*a->flag = mpi_comm_is_inter(a->comm);
	return MPI_SUCCESS;
}

int
impl_Comm_remote_size(struct call *call, const struct args_Comm_remote_size *a)
{
	(void)call;
	if (!mpi_comm_is_inter(a->comm))
		return MPI_ERR_COMM;
	*a->size = a->comm->remote->size;
	return MPI_SUCCESS;
}

int
impl_Comm_remote_group(struct call *call, const struct args_Comm_remote_group *a)
{
	if (!mpi_comm_is_inter(a->comm))
		return MPI_ERR_COMM;
	*a->group = mpi_group_handle(call->self, mpi_group_hold(a->comm->remote));
	return *a->group == MPI_GROUP_NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

/* The leaders exchange `bytes` each way. Error class. */
static int
exchange(const struct meeting *m, const void *out, size_t out_bytes, void *in, size_t in_bytes)
{
	struct request send = {.handle = 0}, recv = {.handle = 0};
	int err, err_out;

	mpi_recv_prepare(&recv, m->peer, in, in_bytes, m->remote_leader, m->tag);
	mpi_send_prepare(&send, m->peer, out, out_bytes, m->remote_leader, m->tag);
	recv.context = send.context = m->peer->context + CONTEXT_GROUP;
	mpi_recv_start(m->self, &recv);
	err_out = mpi_send_bytes(m->self, &send);
	err = mpi_wait(m->self, &recv);
	return err != MPI_SUCCESS ? err : err_out;
}

/* What the leader tells its group before the members of the other one. */
struct notice {
	int32_t err;
	int32_t size;
};

static int32_t *
list_of(const struct group *g)
{
	int32_t *world = malloc((size_t)g->size * sizeof(*world));

	for (int i = 0; world != NULL && i < g->size; i++)
		world[i] = mpi_group_world(g, i);
	return world;
}

/* The leader learns the members of the other group. */
static int
learn(const struct meeting *m, int32_t **theirs, int32_t *size)
{
	const struct group *g = m->local->group;
	int32_t *ours = list_of(g), mine = ours ? g->size : -1;
	int err = exchange(m, &mine, sizeof(mine), size, sizeof(*size));

	*theirs = NULL;
	if (err == MPI_SUCCESS && (ours == NULL || *size < 0))
		err = MPI_ERR_NO_MEM;
	if (err == MPI_SUCCESS) {
		*theirs = malloc((size_t)*size * sizeof(**theirs));
		err = *theirs ? exchange(m, ours, (size_t)g->size * sizeof(*ours), *theirs,
			(size_t)*size * sizeof(**theirs)) : MPI_ERR_NO_MEM;
	}
	free(ours);
	return err;
}

/* Every member learns of the other group; NULL and an error class if that fails. */
static int
remote_group(const struct meeting *m, struct group **remote)
{
	struct notice n = {MPI_SUCCESS, 0};
	int32_t *theirs = NULL;
	int err;

	*remote = NULL;
	if (m->local->rank == m->leader)
		n.err = learn(m, &theirs, &n.size);
	err = mpi_bcast(m->self, m->local, &n, sizeof(n), m->leader);
	if (err == MPI_SUCCESS)
		err = n.err;
	if (err == MPI_SUCCESS && theirs == NULL)
		theirs = malloc((size_t)n.size * sizeof(*theirs));
	if (err == MPI_SUCCESS && theirs == NULL)
		err = MPI_ERR_NO_MEM;
	if (err == MPI_SUCCESS)
		err = mpi_bcast(m->self, m->local, theirs, (size_t)n.size * sizeof(*theirs),
			m->leader);
	if (err != MPI_SUCCESS) {
		free(theirs);
		return err;
	}
	*remote = mpi_group_of(m->self, theirs, n.size);
	return *remote ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

int
intercomm_create(const struct meeting *m, MPI_Comm *newcomm)
{
	struct circle circle = mpi_circle_of(m->local);
	struct group *remote;
	struct newcomm n = {NULL, MPI_SUCCESS};
	int err = remote_group(m, &remote);

	if (err != MPI_SUCCESS)
		return err;
	if (mpi_group_overlaps(remote, m->local->group)) {
		mpi_group_release(m->self, remote);
		n.err = MPI_ERR_COMM;
	} else {
		n.made = mpi_comm_new(m->self, mpi_group_hold(m->local->group), remote,
			m->local->errhandler);
		n.err = n.made ? MPI_SUCCESS : MPI_ERR_NO_MEM;
		if (n.made != NULL)
			mpi_comm_come_from(n.made, m->local);
	}
	circle.leader = m->leader;
	circle.bridge = m->peer;
	circle.bridge_context = m->peer ? m->peer->context + CONTEXT_GROUP : 0;
	circle.bridge_tag = m->tag;
	circle.bridge_peer = m->remote_leader;
	return newcomm_agree(m->self, circle, n, newcomm);
}

int
impl_Intercomm_create(struct call *call, const struct args_Intercomm_create *a)
{
	struct meeting m = {call->self, a->local_comm, a->local_leader, NULL, a->remote_leader,
		a->tag};

	if (mpi_comm_is_inter(a->local_comm))
		return MPI_ERR_COMM;
	if (call_rank(a->local_comm, a->local_leader) != MPI_SUCCESS)
		return MPI_ERR_RANK;
	if (a->local_comm->rank == a->local_leader) {
		int err = call_comm(call, a->peer_comm, &m.peer);

		if (err == MPI_SUCCESS)
			err = a->remote_leader >= 0 && a->remote_leader < mpi_comm_peers(m.peer)
				? call_send_tag(a->tag) : MPI_ERR_RANK;
		if (err != MPI_SUCCESS)
			return err;
	}
	return intercomm_create(&m, a->newintercomm);
}

/*
 * Whether our group comes first: the one that says low; else the one whose first member has the
 * lower rank in the job.
 */
static bool
is_first(const struct comm *c, int high, int other_high)
{
	if (high != other_high)
		return !high;
	return mpi_group_world(c->group, 0) < mpi_group_world(c->remote, 0);
}

static struct group *
joined(struct mpi_rank *self, const struct group *first, const struct group *second)
{
	int32_t *world = malloc((size_t)(first->size + second->size) * sizeof(*world));

	if (world == NULL)
		return NULL;
	for (int i = 0; i < first->size; i++)
		world[i] = mpi_group_world(first, i);
	for (int i = 0; i < second->size; i++)
		world[first->size + i] = mpi_group_world(second, i);
	return mpi_group_of(self, world, first->size + second->size);
}

int
impl_Intercomm_merge(struct call *call, const struct args_Intercomm_merge *a)
{
	struct agreement agreed = {.mine = {.agrees = 1, .ours = a->high != 0}};
	struct comm *c = a->intercomm;
	struct newcomm n;
	int err;

	if (!mpi_comm_is_inter(c))
		return MPI_ERR_COMM;
	agreed.circle = mpi_circle_of(c);
	err = mpi_agree(call->self, &agreed);
	if (err != MPI_SUCCESS)
		return err;
	n = newcomm_group(call->self, c, is_first(c, agreed.mine.ours, agreed.mine.theirs)
		? joined(call->self, c->group, c->remote) :
		joined(call->self, c->remote, c->group));
	if (n.err != MPI_SUCCESS) {
		mpi_ids_give_back(&call->self->ids, agreed.id);
		return n.err;
	}
	mpi_comm_number(n.made, agreed.id);
	*a->newintracomm = mpi_comm_handle(n.made);
	return MPI_SUCCESS;
}
