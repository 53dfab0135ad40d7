/* SPDX-License-Identifier: MIT
 *
 * Chapter datatypes: packing into a buffer of the program's. Packed data is the data itself, in its
 * order; external32 is the same everywhere.
 */
#include <string.h>
#include <mpi_impl.h>
#include <mpi/core/derived.h>

/* One side is elements of a type, the other one a buffer with a position. */
struct packing {
	const void *elements;
	MPI_Count count;
	struct type *type;
	const void *buffer;
	MPI_Count room;
	MPI_Count *position;
};

/* Is there room for so many bytes? */
static int
check_packing(const struct packing *p, MPI_Count bytes)
{
	int err = call_buffer(p->elements, p->count, p->type);

	if (err != MPI_SUCCESS)
		return err;
	if (p->buffer == NULL && bytes > 0)
		return MPI_ERR_BUFFER;
	return p->room < 0 || *p->position < 0 || *p->position > p->room ||
		bytes > p->room - *p->position ? MPI_ERR_ARG : MPI_SUCCESS;
}

static char *
place(const struct packing *p)
{
	return address_shift(p->buffer, (MPI_Aint)*p->position);
}

int
impl_Pack(struct call *call, const struct args_Pack *a)
{
	struct packing p = {a->inbuf, a->incount, a->datatype, a->outbuf, a->outsize, a->position};
	MPI_Count bytes;
	int err = mpi_type_bytes(a->datatype, a->incount, &bytes) ? check_packing(&p, bytes) :
		MPI_ERR_COUNT;

	(void)call;
	if (err != MPI_SUCCESS)
		return err;
	mpi_type_pack(a->datatype, a->inbuf, 0, place(&p), bytes);
	*a->position += bytes;
	return MPI_SUCCESS;
}

int
impl_Unpack(struct call *call, const struct args_Unpack *a)
{
	struct packing p = {a->outbuf, a->outcount, a->datatype, a->inbuf, a->insize, a->position};
	MPI_Count bytes;
	int err = mpi_type_bytes(a->datatype, a->outcount, &bytes) ? check_packing(&p, bytes) :
		MPI_ERR_COUNT;

	(void)call;
	if (err != MPI_SUCCESS)
		return err;
	mpi_type_unpack(a->datatype, a->outbuf, 0, place(&p), bytes);
	*a->position += bytes;
	return MPI_SUCCESS;
}

int
impl_Pack_size(struct call *call, const struct args_Pack_size *a)
{
	(void)call;
	return mpi_type_bytes(a->datatype, a->incount, a->size) ? MPI_SUCCESS : MPI_ERR_COUNT;
}

static int
external_bytes(const char *representation, const struct type *t, MPI_Count count, MPI_Count *bytes)
{
	if (representation == NULL || strcmp(representation, "external32") != 0)
		return MPI_ERR_ARG;
	return mpi_external_bytes(t, count, bytes);
}

int
impl_Pack_external(struct call *call, const struct args_Pack_external *a)
{
	struct packing p = {a->inbuf, a->incount, a->datatype, a->outbuf, a->outsize, a->position};
	MPI_Count bytes;
	int err = external_bytes(a->datarep, a->datatype, a->incount, &bytes);

	(void)call;
	if (err == MPI_SUCCESS)
		err = check_packing(&p, bytes);
	if (err != MPI_SUCCESS)
		return err;
	mpi_external_pack(a->datatype, a->incount, a->inbuf, place(&p));
	*a->position += bytes;
	return MPI_SUCCESS;
}

int
impl_Unpack_external(struct call *call, const struct args_Unpack_external *a)
{
	struct packing p = {a->outbuf, a->outcount, a->datatype, a->inbuf, a->insize, a->position};
	MPI_Count bytes;
	int err = external_bytes(a->datarep, a->datatype, a->outcount, &bytes);

	(void)call;
	if (err == MPI_SUCCESS)
		err = check_packing(&p, bytes);
	if (err != MPI_SUCCESS)
		return err;
	mpi_external_unpack(a->datatype, a->outcount, a->outbuf, place(&p));
	*a->position += bytes;
	return MPI_SUCCESS;
}

int
impl_Pack_external_size(struct call *call, const struct args_Pack_external_size *a)
{
	(void)call;
	return external_bytes(a->datarep, a->datatype, a->incount, a->size);
}
