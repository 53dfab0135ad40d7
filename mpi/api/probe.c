/* SPDX-License-Identifier: MIT
 *
 * Chapter point-to-point: probing.
 */
#include <mpi_impl.h>
#include <mpi/api/probe.h>
#include <mpi/core/request.h>
#include <mpi/pt2pt/pt2pt.h>

int
probe_in_vain(const struct probe *p)
{
	return mpi_source_is_lost(p->self, mpi_comm_peer_group(p->comm), p->source) ?
		MPI_ERR_PROC_ABORTED : MPI_SUCCESS;
}

bool
probe_is_over(const void *probe)
{
	return probe_look(probe) != NULL || probe_in_vain(probe) != MPI_SUCCESS;
}

static void
probe_describe(const struct probe *p, MPI_Status *status)
{
	const struct unexpected *u = probe_look(p);

	mpi_status_set(status, u->packet.source, u->packet.tag, u->packet.bytes);
}

int
impl_Probe(struct call *call, const struct args_Probe *a)
{
	struct probe p = {call->self, a->comm, a->source, a->tag};

	if (a->source == MPI_PROC_NULL) {
		mpi_status_null(a->status);
		return MPI_SUCCESS;
	}
	mpi_wait_until(call->self, probe_is_over, &p);
	if (probe_look(&p) == NULL)
		return MPI_ERR_PROC_ABORTED;
	probe_describe(&p, a->status);
	return MPI_SUCCESS;
}

int
impl_Iprobe(struct call *call, const struct args_Iprobe *a)
{
	struct probe p = {call->self, a->comm, a->source, a->tag};

	if (a->source == MPI_PROC_NULL) {
		*a->flag = 1;
		mpi_status_null(a->status);
		return MPI_SUCCESS;
	}
	mpi_progress(call->self);
	*a->flag = probe_look(&p) != NULL;
	if (*a->flag) {
		probe_describe(&p, a->status);
		return MPI_SUCCESS;
	}
	mpi_relax(call->self);
	return probe_in_vain(&p);
}
