/* SPDX-License-Identifier: MIT
 *
 * Chapter environment: what the ABI is like, and what a Fortran layer above the library has told of
 * its compiler.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi_impl.h>
#include <mpi/core/info.h>
#include <mpi/transport/transport.h>

#define LOGICAL_MAX 16

struct abi_record {
	struct info *fortran;		/* NULL: not told */
	int logical_size;		/* 0: not told */
	unsigned char is_true[LOGICAL_MAX];
	unsigned char is_false[LOGICAL_MAX];
};

static struct abi_record *
record(struct mpi_rank *self)
{
	if (self->abi == NULL)
		self->abi = calloc(1, sizeof(*self->abi));
	return self->abi;
}

int
impl_Abi_get_version(struct call *call, const struct args_Abi_get_version *a)
{
	(void)call;
	*a->abi_major = MPI_ABI_VERSION;
	*a->abi_minor = MPI_ABI_SUBVERSION;
	return MPI_SUCCESS;
}

static int
set_size(struct info *i, const char *key, size_t size)
{
	char text[16];

	snprintf(text, sizeof(text), "%zu", size);
	return mpi_info_set(i, key, text);
}

int
impl_Abi_get_info(struct call *call, const struct args_Abi_get_info *a)
{
	struct info *i = mpi_info_new();
	int err = i ? set_size(i, "mpi_aint_size", sizeof(MPI_Aint)) : MPI_ERR_NO_MEM;

	if (err == MPI_SUCCESS)
		err = set_size(i, "mpi_count_size", sizeof(MPI_Count));
	if (err == MPI_SUCCESS)
		err = set_size(i, "mpi_offset_size", sizeof(MPI_Offset));
	if (err == MPI_SUCCESS)
		return mpi_info_publish(call->self, i, a->info);
	mpi_info_drop(i);
	return err;
}

int
impl_Abi_get_fortran_info(struct call *call, const struct args_Abi_get_fortran_info *a)
{
	const struct abi_record *r = call->self->abi;

	*a->info = MPI_INFO_NULL;
	return r && r->fortran ? mpi_info_publish(call->self, mpi_info_copy(r->fortran), a->info) :
		MPI_SUCCESS;
}

int
impl_Abi_set_fortran_info(struct call *call, const struct args_Abi_set_fortran_info *a)
{
	struct abi_record *r = record(call->self);

	if (r == NULL)
		return MPI_ERR_NO_MEM;
	if (a->info == NULL)
		return MPI_ERR_INFO;
	if (r->fortran != NULL)
		return MPI_ERR_ABI;
	r->fortran = mpi_info_copy(a->info);
	return r->fortran ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static bool
is_size(int size)
{
	return size == 1 || size == 2 || size == 4 || size == 8 || size == LOGICAL_MAX;
}

int
impl_Abi_set_fortran_booleans(struct call *call, const struct args_Abi_set_fortran_booleans *a)
{
	struct abi_record *r = record(call->self);

	if (r == NULL)
		return MPI_ERR_NO_MEM;
	if (!is_size(a->logical_size))
		return MPI_ERR_ARG;
	if (r->logical_size != 0)
		return MPI_ERR_ABI;
	r->logical_size = a->logical_size;
	memcpy(r->is_true, a->logical_true, (size_t)a->logical_size);
	memcpy(r->is_false, a->logical_false, (size_t)a->logical_size);
	return MPI_SUCCESS;
}

int
impl_Abi_get_fortran_booleans(struct call *call, const struct args_Abi_get_fortran_booleans *a)
{
	const struct abi_record *r = call->self->abi;

	if (!is_size(a->logical_size))
		return MPI_ERR_ARG;
	*a->is_set = r != NULL && r->logical_size == a->logical_size;
	if (*a->is_set) {
		memcpy(a->logical_true, r->is_true, (size_t)a->logical_size);
		memcpy(a->logical_false, r->is_false, (size_t)a->logical_size);
	}
	return MPI_SUCCESS;
}

/*
 * The kinds of hardware that the library knows: a rank always runs in one cluster of one machine.
 */
int
impl_Get_hw_resource_info(struct call *call, const struct args_Get_hw_resource_info *a)
{
	static const char *const kinds[] = {"mpi_shared_memory", "atoll://cluster",
		"atoll://machine"};
	struct info *i = mpi_info_new();
	int err = i ? MPI_SUCCESS : MPI_ERR_NO_MEM;

	for (size_t k = 0; err == MPI_SUCCESS && k < sizeof(kinds) / sizeof(kinds[0]); k++)
		err = mpi_info_set(i, kinds[k], "true");
	if (err == MPI_SUCCESS)
		return mpi_info_publish(call->self, i, a->hw_info);
	mpi_info_drop(i);
	return err;
}

/*
 * The level is for profiling libraries, which define a function of this name themselves; ours
 * counts messages.
 */
int
impl_Pcontrol(struct call *call, const struct args_Pcontrol *a)
{
	transport_count(call->self, a->level);
	return MPI_SUCCESS;
}
