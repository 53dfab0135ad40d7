/* SPDX-License-Identifier: MIT
 *
 * Argument checks.
 */
#include <mpi/api/check.h>

int
check_running(const struct mpi_rank *self)
{
	return self->state == RANK_RUNNING ? MPI_SUCCESS : MPI_ERR_OTHER;
}

int
check_comm(struct mpi_rank *self, MPI_Comm handle, struct comm **c)
{
	*c = NULL;
	if (self->state != RANK_RUNNING)
		return MPI_ERR_OTHER;
	*c = mpi_comm_find(self, handle);
	return *c ? MPI_SUCCESS : MPI_ERR_COMM;
}

int
check_buffer(const void *buffer, int count, MPI_Datatype datatype, size_t *bytes)
{
	const struct type *type;

	if (count < 0)
		return MPI_ERR_COUNT;
	type = mpi_type_find(datatype);
	if (type == NULL)
		return MPI_ERR_TYPE;
	*bytes = (size_t)count * type->extent;
	return buffer == NULL && *bytes > 0 ? MPI_ERR_BUFFER : MPI_SUCCESS;
}

int
check_send(const struct comm *c, struct message *m)
{
	int err = check_buffer(m->buffer, m->count, m->datatype, &m->bytes);

	if (err != MPI_SUCCESS)
		return err;
	if ((m->rank < 0 || m->rank >= c->size) && m->rank != MPI_PROC_NULL)
		return MPI_ERR_RANK;
	return m->tag < 0 ? MPI_ERR_TAG : MPI_SUCCESS;
}

int
check_source(const struct comm *c, int source)
{
	bool known = (source >= 0 && source < c->size) || source == MPI_ANY_SOURCE || source == MPI_PROC_NULL;

	return known ? MPI_SUCCESS : MPI_ERR_RANK;
}

int
check_recv_tag(int tag)
{
	return tag >= 0 || tag == MPI_ANY_TAG ? MPI_SUCCESS : MPI_ERR_TAG;
}

int
check_recv(const struct comm *c, struct message *m)
{
	int err = check_buffer(m->buffer, m->count, m->datatype, &m->bytes);

	if (err == MPI_SUCCESS)
		err = check_source(c, m->rank);
	return err == MPI_SUCCESS ? check_recv_tag(m->tag) : err;
}

int
check_root(const struct comm *c, int root)
{
	return root >= 0 && root < c->size ? MPI_SUCCESS : MPI_ERR_ROOT;
}
