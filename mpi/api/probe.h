/* SPDX-License-Identifier: MIT
 *
 * What a probe asks for, matched or not.
 */
#ifndef MPI_API_PROBE_H
#define MPI_API_PROBE_H

#include <mpi/core/rank.h>
#include <mpi/pt2pt/match.h>

struct probe {
	struct mpi_rank *self;
	const struct comm *comm;
	int32_t source;
	int32_t tag;
};

/* The message that it would find, or NULL. */
static inline struct unexpected *
probe_look(const struct probe *p)
{
	return mpi_match_find(&p->self->match, p->comm->context, p->source, p->tag);
}

/* Is there one, or will none ever be? Argument of mpi_wait_until. */
bool probe_is_over(const void *probe);

/* None is there: MPI_ERR_PROC_ABORTED if none will ever be. */
int probe_in_vain(const struct probe *p);

#endif
