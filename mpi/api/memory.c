/* SPDX-License-Identifier: MIT
 *
 * Chapter environment: memory. It comes from the transport where that can give memory which peers
 * reach directly, else from the heap. Each block begins with a record of it, and is in a list, so
 * that memory which is none of ours is recognised.
 */
#include <stdlib.h>
#include <mpi_impl.h>
#include <mpi/core/info.h>
#include <mpi/transport/transport.h>

struct block {
	struct block *next;
	void *start;			/* as it was allocated */
	bool shared;			/* by the transport */
};

#define ALIGNMENT_MIN 64
#define ALIGNMENT_MAX (1 << 30)

/* The alignment that the program asks for; 0: what it says is no power of two. */
static size_t
alignment(const struct info *info)
{
	const char *text = mpi_info_value(info, "mpi_minimum_memory_alignment");
	long wanted = text ? strtol(text, NULL, 10) : ALIGNMENT_MIN;

	if (wanted < 1 || wanted > ALIGNMENT_MAX || (wanted & (wanted - 1)) != 0)
		return 0;
	return wanted < ALIGNMENT_MIN ? ALIGNMENT_MIN : (size_t)wanted;
}

int
impl_Alloc_mem(struct call *call, const struct args_Alloc_mem *a)
{
	size_t align = alignment(a->info), bytes;
	struct block *b;
	bool shared;
	char *start;

	if (a->size < 0)
		return MPI_ERR_ARG;
	if (align == 0)
		return MPI_ERR_INFO_VALUE;
	bytes = (size_t)a->size + align + sizeof(*b);
	start = transport_share(call->self, bytes);
	shared = start != NULL;
	if (!shared)
		start = malloc(bytes);
	if (start == NULL)
		return MPI_ERR_NO_MEM;
	b = (struct block *)(((uintptr_t)start + sizeof(*b) + align - 1) / align * align -
		sizeof(*b));
	*b = (struct block){call->self->blocks, start, shared};
	call->self->blocks = b;
	*(void **)a->baseptr = b + 1;
	return MPI_SUCCESS;
}

int
impl_Free_mem(struct call *call, const struct args_Free_mem *a)
{
	struct block **at = &call->self->blocks, *b;

	while (*at != NULL && *at + 1 != a->base)
		at = &(*at)->next;
	b = *at;
	if (b == NULL)
		return MPI_ERR_BASE;
	*at = b->next;
	if (b->shared)
		transport_unshare(call->self, b->start);
	else
		free(b->start);
	return MPI_SUCCESS;
}
