/* SPDX-License-Identifier: MIT
 *
 * Chapter point-to-point: probing.
 */
#include <mpi/api/check.h>
#include <mpi/pt2pt/pt2pt.h>
#include <mpi/transport/transport.h>
#include <mpi_twins_probe.h>

struct probe {
	struct mpi_rank *self;
	int32_t context;
	int32_t source;
	int32_t tag;
};

static const struct unexpected *
look(const struct probe *p)
{
	return mpi_match_find(&p->self->match, p->context, p->source, p->tag);
}

static bool
is_there(const void *arg)
{
	return look(arg) != NULL;
}

static void
describe(const struct probe *p, MPI_Status *status)
{
	const struct unexpected *u = look(p);

	mpi_status_set(status, u->packet.source, u->packet.tag, u->packet.bytes);
}

static int
check_probe(const struct comm *c, int source, int tag)
{
	int err = check_source(c, source);

	return err == MPI_SUCCESS ? check_recv_tag(tag) : err;
}

int
PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct mpi_rank *self = mpi_self();
	struct comm *c;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS)
		err = check_probe(c, source, tag);
	if (err == MPI_SUCCESS && source == MPI_PROC_NULL) {
		mpi_status_null(status);
	} else if (err == MPI_SUCCESS) {
		struct probe p = {self, c->context, source, tag};

		mpi_wait_until(self, is_there, &p);
		describe(&p, status);
	}
	return mpi_raise(self, c, err, "MPI_Probe");
}

int
PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
	struct mpi_rank *self = mpi_self();
	struct comm *c;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS)
		err = check_probe(c, source, tag);
	if (err == MPI_SUCCESS)
		err = check_pointer(flag);
	if (err == MPI_SUCCESS && source == MPI_PROC_NULL) {
		*flag = 1;
		mpi_status_null(status);
	} else if (err == MPI_SUCCESS) {
		struct probe p = {self, c->context, source, tag};

		mpi_progress(self);
		*flag = is_there(&p);
		if (*flag)
			describe(&p, status);
		else
			transport_relax(self);
	}
	return mpi_raise(self, c, err, "MPI_Iprobe");
}
