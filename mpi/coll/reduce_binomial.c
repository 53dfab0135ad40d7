/* SPDX-License-Identifier: MIT
 *
 * Reduction along a binomial tree. Operands are combined in the order of the ranks if the operation does not commute: the tree
 * then stands on rank 0, which passes the result on to the root.
 *
 * Cost: ceil(log2 n) (a + m b + m g).
 */
#include <string.h>
#include <mpi/coll/coll.h>
#include <mpi/coll/step.h>
#include <mpi/core/op.h>
#include <mpi/core/type.h>

/* Two buffers: what is combined so far, and what arrives. */
struct pair {
	char *sum;
	char *next;
	size_t bytes;
};

static void
combine(struct mpi_rank *self, const struct reduction *r, struct pair *p)
{
	char *sum = p->next;

	/* own operands come before those of higher ranks */
	mpi_op_apply(self, r->op, p->sum, p->next, r->count, r->type);
	p->next = p->sum;
	p->sum = sum;
}

/* Take in the subtrees, then hand the sum to the parent. `me` is the position in the tree, `base` the rank at its foot. */
static int
climb(struct mpi_rank *self, struct comm *c, const struct reduction *r, struct pair *p, int base)
{
	int me = (c->rank - base + c->size) % c->size, err = MPI_SUCCESS;

	for (int bit = 1; bit < c->size && err == MPI_SUCCESS; bit *= 2) {
		struct exchange x = {.out = p->sum, .out_bytes = p->bytes, .to = (me - bit + base + c->size) % c->size,
			.in = p->next, .in_bytes = p->bytes, .from = (me + bit + base) % c->size};

		if (me & bit)
			return step_send(self, c, &x, TAG_REDUCE);
		if (me + bit >= c->size)
			continue;
		err = step_recv(self, c, &x, TAG_REDUCE);
		if (err == MPI_SUCCESS)
			combine(self, r, p);
	}
	return err;
}

/* From the foot of the tree to the root. */
static int
deliver(struct mpi_rank *self, struct comm *c, const struct reduction *r, const struct pair *p, int base, int root)
{
	struct exchange x = {.out = p->sum, .out_bytes = p->bytes, .to = root, .in = r->out, .in_bytes = p->bytes, .from = base};

	if (c->rank == base && base == root)
		memcpy(r->out, p->sum, p->bytes);
	else if (c->rank == base)
		return step_send(self, c, &x, TAG_REDUCE);
	else if (c->rank == root && base != root)
		return step_recv(self, c, &x, TAG_REDUCE);
	return MPI_SUCCESS;
}

int
mpi_reduce_binomial(struct mpi_rank *self, struct comm *c, const struct reduction *r, int root)
{
	_Alignas(16) char small[SCRATCH_SMALL];
	size_t bytes = (size_t)r->count * mpi_type_find(r->type)->extent, half = (bytes + 15) / 16 * 16;
	char *block = scratch_take(small, sizeof(small), 2 * half);
	struct pair p = {block, block + half, bytes};
	int base = mpi_op_commutes(self, r->op) ? root : 0, err;

	if (block == NULL)
		return MPI_ERR_NO_MEM;
	if (bytes > 0)
		memcpy(p.sum, r->in, bytes);
	err = climb(self, c, r, &p, base);
	if (err == MPI_SUCCESS)
		err = deliver(self, c, r, &p, base, root);
	scratch_free(small, block);
	return err;
}
