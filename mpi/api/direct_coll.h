/* SPDX-License-Identifier: MIT
 *
 * The first lines of the bindings of collectives (see direct.h): a small call that is right and
 * simple takes the fast path (coll/flags_fast.h).
 */
#ifndef MPI_API_DIRECT_COLL_H
#define MPI_API_DIRECT_COLL_H

#include <mpi/api/direct.h>
#include <mpi/coll/central_fast.h>
#include <mpi/coll/flags_fast.h>
#include <mpi/core/op.h>

static inline __attribute__((always_inline)) bool
direct_coll(struct fast_call *s, MPI_Comm comm)
{
	s->self = mpi_self();
	s->comm = direct_comm(s->self, comm);
	return s->comm != NULL;
}

/* Bytes of so many elements of a basic type, or 0. */
static inline __attribute__((always_inline)) size_t
direct_bytes(MPI_Count count, MPI_Datatype datatype)
{
	const struct type *t = mpi_type_basic(datatype);

	return t != NULL && mpi_type_is_plain(t) && (uint64_t)count <= DIRECT_COUNT_MAX
		? (size_t)count * (size_t)t->size : 0;
}

/* A buffer of the program's, which is not "in place". */
static inline bool
direct_buffer(const void *buffer)
{
	return buffer != NULL && buffer != MPI_IN_PLACE;
}

static inline bool
direct_root(const struct fast_call *s, int root)
{
	return (unsigned)root < (unsigned)s->comm->size;
}

/* What a reduction combines; in place with `in_place`. */
static inline __attribute__((always_inline)) bool
direct_operand(struct fast_call *s, const void *sendbuf, MPI_Count count, MPI_Datatype datatype,
	MPI_Op op)
{
	const struct type *t = mpi_type_basic(datatype);

	s->bytes = direct_bytes(count, datatype);
	if (s->bytes == 0 || sendbuf == NULL)
		return false;
	s->in = sendbuf;
	s->count = (size_t)count;
	s->loop = mpi_op_loop(op, t);
	return s->loop != NULL;
}

/* The bindings themselves. */
ON_ONE_PAGE int PMPI_Barrier(MPI_Comm comm);
ON_ONE_PAGE_BEGIN int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count,
	MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

static inline __attribute__((always_inline)) bool
direct_Barrier(MPI_Comm comm)
{
	struct fast_call s;

	s.bytes = 0;
	if (!direct_coll(&s, comm))
		return false;
	if (s.comm->fast.barrier == NULL)
		return mpi_flags_fast_barrier(&s);
	mpi_central_fast_barrier(s.comm);
	return true;
}

static inline __attribute__((always_inline)) bool
direct_bcast_is(struct fast_call *s, void *buffer, MPI_Count count, MPI_Datatype datatype, int root,
	MPI_Comm comm)
{
	if (!direct_coll(s, comm) || !direct_buffer(buffer) || !direct_root(s, root))
		return false;
	s->in = s->out = buffer;
	s->bytes = direct_bytes(count, datatype);
	s->root = root;
	return s->bytes > 0;
}

static inline __attribute__((always_inline)) bool
direct_Bcast(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
	struct fast_call s;

	return direct_bcast_is(&s, buffer, count, datatype, root, comm) &&
		mpi_flags_fast_bcast(&s);
}

static inline __attribute__((always_inline)) bool
direct_Ibcast(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
	MPI_Request *request)
{
	struct fast_call s;

	return request != NULL && direct_bcast_is(&s, buffer, count, datatype, root, comm) &&
		mpi_flags_start_bcast(&s, request);
}

struct direct_side {
	const void *buffer;
	MPI_Count count;
	MPI_Datatype type;
};

/*
 * What gather and scatter share: `one` is the side with a block, `all` that with a block per rank,
 * which counts at the root.
 */
static inline __attribute__((always_inline)) bool
direct_rooted(struct fast_call *s, const struct direct_side *one, const struct direct_side *all,
	int root, MPI_Comm comm)
{
	if (!direct_coll(s, comm) || !direct_root(s, root) || !direct_buffer(one->buffer))
		return false;
	s->bytes = direct_bytes(one->count, one->type);
	s->root = root;
	if (s->comm->rank == root && (!direct_buffer(all->buffer) ||
		direct_bytes(all->count, all->type) != s->bytes))
		return false;
	return s->bytes > 0;
}

static inline __attribute__((always_inline)) bool
direct_Gather(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
	MPI_Count recvcount, MPI_Datatype recvtype, int root,
	MPI_Comm comm)
{
	struct direct_side one = {sendbuf, sendcount, sendtype},
		all = {recvbuf, recvcount, recvtype};
	struct fast_call s;

	if (!direct_rooted(&s, &one, &all, root, comm))
		return false;
	s.in = sendbuf;
	s.out = recvbuf;
	return mpi_flags_fast_gather(&s);
}

static inline __attribute__((always_inline)) bool
direct_Scatter(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
	MPI_Count recvcount, MPI_Datatype recvtype, int root,
	MPI_Comm comm)
{
	struct direct_side one = {recvbuf, recvcount, recvtype},
		all = {sendbuf, sendcount, sendtype};
	struct fast_call s;

	if (!direct_rooted(&s, &one, &all, root, comm))
		return false;
	s.in = sendbuf;
	s.out = recvbuf;
	return mpi_flags_fast_scatter(&s);
}

static inline __attribute__((always_inline)) bool
direct_Allgather(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
	MPI_Count recvcount, MPI_Datatype recvtype,
	MPI_Comm comm)
{
	struct fast_call s;

	if (!direct_coll(&s, comm) || !direct_buffer(recvbuf) || sendbuf == NULL)
		return false;
	s.bytes = direct_bytes(recvcount, recvtype);
	s.out = recvbuf;
	s.in = sendbuf == MPI_IN_PLACE ? s.out + (size_t)s.comm->rank * s.bytes : sendbuf;
	if (sendbuf != MPI_IN_PLACE && direct_bytes(sendcount, sendtype) != s.bytes)
		return false;
	return s.bytes > 0 && mpi_flags_fast_allgather(&s);
}

static inline __attribute__((always_inline)) bool
direct_Alltoall(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
	MPI_Count recvcount, MPI_Datatype recvtype,
	MPI_Comm comm)
{
	struct fast_call s;

	if (!direct_coll(&s, comm) || !direct_buffer(recvbuf) || sendbuf == NULL)
		return false;
	s.bytes = direct_bytes(recvcount, recvtype);
	s.out = recvbuf;
	s.in = sendbuf == MPI_IN_PLACE ? s.out : sendbuf;
	if (sendbuf != MPI_IN_PLACE && direct_bytes(sendcount, sendtype) != s.bytes)
		return false;
	return s.bytes > 0 && mpi_flags_fast_alltoall(&s);
}

static inline __attribute__((always_inline)) struct side
direct_plain_side(const void *buffer, MPI_Count count, MPI_Datatype datatype)
{
	return (struct side){.buffer = (void *)(uintptr_t)buffer, .count = count,
		.datatype = datatype, .type = mpi_type_basic(datatype)};
}

static inline __attribute__((always_inline)) bool
direct_Ialltoall(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
	MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct fast_call s;

	if (request == NULL || !direct_coll(&s, comm) || !direct_buffer(sendbuf) ||
		!direct_buffer(recvbuf))
		return false;
	s.bytes = direct_bytes(recvcount, recvtype);
	if (s.bytes == 0 || direct_bytes(sendcount, sendtype) != s.bytes)
		return false;
	return mpi_flags_start(&s, &(struct collective){.kind = COLL_ALLTOALL,
		.send = direct_plain_side(sendbuf, sendcount, sendtype),
		.recv = direct_plain_side(recvbuf, recvcount, recvtype), .even = true}, request);
}

static inline __attribute__((always_inline)) bool
direct_Reduce(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
	int root, MPI_Comm comm)
{
	struct fast_call s;

	if (!direct_coll(&s, comm) || !direct_root(&s, root) ||
		!direct_operand(&s, sendbuf, count, datatype, op))
		return false;
	if (s.comm->rank == root ? !direct_buffer(recvbuf) : sendbuf == MPI_IN_PLACE)
		return false;
	s.out = recvbuf;
	s.in = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
	s.root = root;
	return mpi_flags_fast_reduce(&s);
}

/* The operand of a reduction without a root. */
static inline __attribute__((always_inline)) bool
direct_reduction(struct fast_call *s, const void *sendbuf, void *recvbuf, MPI_Comm comm)
{
	s->out = recvbuf;
	s->in = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
	return direct_coll(s, comm) && direct_buffer(recvbuf);
}

/* A fast central barrier, if so many elements are for one. */
static inline __attribute__((always_inline)) bool
direct_central_fast(const struct fast_call *s, MPI_Count count, MPI_Datatype datatype, MPI_Op op)
{
	struct central_fast *b = &s->comm->fast;

	if ((b->datatype != datatype || b->op != op) && !mpi_central_fast_cache_op(b, datatype, op))
		return false;
	if (s->in == NULL || (uint64_t)count - 1 >= FAST_BYTES ||
		(size_t)count * b->size >= b->below)
		return false;
	mpi_central_fast_allreduce(s->comm, s->in, s->out, (size_t)count);
	return true;
}

static inline __attribute__((always_inline)) bool
direct_Allreduce(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
	MPI_Op op, MPI_Comm comm)
{
	struct fast_call s;

	if (!direct_reduction(&s, sendbuf, recvbuf, comm))
		return false;
	if (s.comm->fast.below > 0 && direct_central_fast(&s, count, datatype, op))
		return true;
	return direct_operand(&s, s.in, count, datatype, op) && mpi_flags_fast_allreduce(&s);
}

static inline __attribute__((always_inline)) bool
direct_Iallreduce(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
	MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
	struct fast_call s;

	if (request == NULL || sendbuf == MPI_IN_PLACE ||
		!direct_reduction(&s, sendbuf, recvbuf, comm) ||
		!direct_operand(&s, sendbuf, count, datatype, op))
		return false;
	return mpi_flags_start(&s, &(struct collective){.kind = COLL_ALLREDUCE,
		.send = direct_plain_side(sendbuf, count, datatype),
		.recv = direct_plain_side(recvbuf, count, datatype), .op = op}, request);
}

static inline __attribute__((always_inline)) bool
direct_Reduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
	MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct fast_call s;

	return direct_reduction(&s, sendbuf, recvbuf, comm) &&
		direct_operand(&s, s.in, recvcount, datatype, op) &&
		mpi_flags_fast_reduce_scatter(&s);
}

static inline __attribute__((always_inline)) bool
direct_Scan(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
	MPI_Comm comm)
{
	struct fast_call s;

	return direct_reduction(&s, sendbuf, recvbuf, comm) &&
		direct_operand(&s, s.in, count, datatype, op) && mpi_flags_fast_scan(&s);
}

static inline __attribute__((always_inline)) bool
direct_Exscan(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
	MPI_Comm comm)
{
	struct fast_call s;

	return direct_reduction(&s, sendbuf, recvbuf, comm) &&
		direct_operand(&s, s.in, count, datatype, op) && mpi_flags_fast_exscan(&s);
}

#endif
