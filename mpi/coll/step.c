/* SPDX-License-Identifier: MIT
 *
 * Steps of collectives.
 */
#include <stdlib.h>
#include <mpi/coll/step.h>
#include <mpi/pt2pt/pt2pt.h>

static void
prepare_recv(struct request *r, struct comm *c, const struct exchange *x, enum coll_tag tag)
{
	mpi_recv_prepare(r, c, x->in, x->in_bytes, x->from, (int)tag);
	r->context = c->context + CONTEXT_COLL;
}

int
step_send(struct mpi_rank *self, struct comm *c, const struct exchange *x, enum coll_tag tag)
{
	struct request r = {.handle = 0};

	mpi_send_prepare(&r, c, x->out, x->out_bytes, x->to, (int)tag);
	r.context = c->context + CONTEXT_COLL;
	return mpi_send_bytes(self, &r);
}

int
step_recv(struct mpi_rank *self, struct comm *c, const struct exchange *x, enum coll_tag tag)
{
	struct request r = {.handle = 0};

	prepare_recv(&r, c, x, tag);
	return mpi_recv_bytes(self, &r);
}

int
step_exchange(struct mpi_rank *self, struct comm *c, const struct exchange *x, enum coll_tag tag)
{
	struct request r = {.handle = 0};
	int err, err_in;

	prepare_recv(&r, c, x, tag);
	mpi_recv_start(self, &r);
	err = step_send(self, c, x, tag);
	err_in = mpi_wait(self, &r);
	return err != MPI_SUCCESS ? err : err_in;
}

void *
scratch_take(void *small, size_t small_bytes, size_t bytes)
{
	return bytes <= small_bytes ? small : malloc(bytes);
}

void
scratch_free(void *small, void *block)
{
	if (block != small)
		free(block);
}
