/* SPDX-License-Identifier: MIT
 *
 * Chapter point-to-point: probing.
 */
#include <mpi_impl.h>
#include <mpi/api/probe.h>
#include <mpi/core/request.h>
#include <mpi/pt2pt/pt2pt.h>

bool
probe_is_there(const void *probe)
{
	return probe_look(probe) != NULL;
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
	struct probe p = {call->self, a->comm->context, a->source, a->tag};

	if (a->source == MPI_PROC_NULL) {
		mpi_status_null(a->status);
		return MPI_SUCCESS;
	}
	mpi_wait_until(call->self, probe_is_there, &p);
	probe_describe(&p, a->status);
	return MPI_SUCCESS;
}

int
impl_Iprobe(struct call *call, const struct args_Iprobe *a)
{
	struct probe p = {call->self, a->comm->context, a->source, a->tag};

	if (a->source == MPI_PROC_NULL) {
		*a->flag = 1;
		mpi_status_null(a->status);
		return MPI_SUCCESS;
	}
	mpi_progress(call->self);
	*a->flag = probe_is_there(&p);
	if (*a->flag)
		probe_describe(&p, a->status);
	else
		mpi_relax(call->self);
	return MPI_SUCCESS;
}
