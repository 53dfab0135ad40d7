/* SPDX-License-Identifier: MIT
 *
 * Which operation goes with which type, and how it is applied.
 */
#include <limits.h>
#include <stdlib.h>
#include <mpi/core/op.h>
#include <mpi/core/op_loops.h>
#include <mpi/core/rank.h>
#include <mpi/core/type.h>

#define FIRST ((uintptr_t)MPI_OP_NULL)
#define LAST ((uintptr_t)MPI_NO_OP)

/* by handle minus MPI_OP_NULL; the values are the ABI's and a test compares them with <mpi.h> */
static const uint8_t rows[] = {
	[0x21 - 0x20] = OP_SUM, [0x22 - 0x20] = OP_MIN, [0x23 - 0x20] = OP_MAX,
		[0x24 - 0x20] = OP_PROD,
	[0x28 - 0x20] = OP_BAND, [0x29 - 0x20] = OP_BOR, [0x2a - 0x20] = OP_BXOR,
	[0x30 - 0x20] = OP_LAND, [0x31 - 0x20] = OP_LOR, [0x32 - 0x20] = OP_LXOR,
	[0x38 - 0x20] = OP_MINLOC, [0x39 - 0x20] = OP_MAXLOC, [0x3c - 0x20] = OP_REPLACE,
		[0x3d - 0x20] = OP_NO_OP,
};

static enum op_row
row_of(MPI_Op op)
{
	uintptr_t h = (uintptr_t)op;

	return h >= FIRST && h <= LAST ? (enum op_row)rows[h - FIRST] : OP_NONE;
}

static struct op *
own(struct mpi_rank *self, MPI_Op op)
{
	return mpi_handle_find(&self->tables[HANDLE_OP], (uintptr_t)op);
}

bool
mpi_op_exists(struct mpi_rank *self, MPI_Op op)
{
	return row_of(op) != OP_NONE || own(self, op) != NULL;
}

int
mpi_op_check(struct mpi_rank *self, MPI_Op op, MPI_Datatype type)
{
	enum op_row row = row_of(op);

	if (row == OP_NONE)
		return own(self, op) ? MPI_SUCCESS : MPI_ERR_OP;
	/* REPLACE and NO_OP are for one-sided communication only */
	if (mpi_op_loops[row][mpi_type_find(type)->basic])
		return MPI_SUCCESS;
	return (row == OP_MINLOC || row == OP_MAXLOC) && mpi_type_is_pair(mpi_type_find(type))
		? MPI_SUCCESS : MPI_ERR_OP;
}

void (*mpi_op_loop(MPI_Op op, const struct type *t))(const void *in, void *inout, size_t n)
{
	return mpi_op_loops[row_of(op)][t->basic];
}

bool
mpi_op_commutes(struct mpi_rank *self, MPI_Op op)
{
	struct op *o = row_of(op) == OP_NONE ? own(self, op) : NULL;

	return o == NULL || o->commutes;
}

struct operation
mpi_op_bind(struct mpi_rank *self, MPI_Op op, MPI_Datatype type)
{
	const struct type *t = mpi_type_find(type);
	enum op_row row = row_of(op);
	struct operation o = {.datatype = type, .extent = (MPI_Count)t->extent};

	if (row == OP_NONE) {
		o.own = own(self, op);
		o.own->references++;
	} else {
		o.loop = mpi_op_loops[row][t->basic];
		if (o.loop == NULL)
			o.pairing = mpi_pairing(t, row == OP_MAXLOC);
	}
	return o;
}

void
mpi_op_drop(struct op *op)
{
	if (--op->references == 0)
		free(op);
}

void
mpi_op_release(struct operation *o)
{
	if (o->own != NULL)
		mpi_op_drop(o->own);
	o->own = NULL;
}

/* A function with counts of type int gets what fits. */
static void
apply_narrow(const struct operation *o, const char *in, char *inout, MPI_Count count)
{
	while (count > 0) {
		int part = count > INT_MAX ? INT_MAX : (int)count;
		MPI_Datatype type = o->datatype;

		o->own->function((void *)(uintptr_t)in, inout, &part, &type);
		in += part * o->extent;
		inout += part * o->extent;
		count -= part;
	}
}

void
mpi_op_apply(const struct operation *o, const void *in, void *inout, MPI_Count count)
{
	MPI_Datatype type = o->datatype;

	if (o->loop != NULL)
		o->loop(in, inout, (size_t)count);
	else if (o->own == NULL)
		mpi_pairing_apply(&o->pairing, in, inout, (size_t)count);
	else if (o->own->large != NULL)
		o->own->large((void *)(uintptr_t)in, inout, &count, &type);
	else
		apply_narrow(o, in, inout, count);
}
