/* SPDX-License-Identifier: MIT
 *
 * The collective functions come in three forms, blocking, non-blocking and persistent, whose
 * arguments have the same names: the macros describe a call of any form, check_* checks what the
 * binding could not (what is significant depends on the rank), and the rest does it.
 */
#ifndef MPI_API_COLLECTIVE_H
#define MPI_API_COLLECTIVE_H

#include <mpi_impl.h>
#include <mpi/coll/coll.h>

#define SIDE(buf, n, t) {.buffer = (void *)(uintptr_t)(buf), .count = (n), .datatype = (t)}
#define SIDE_V(buf, n, d, t) {.buffer = (void *)(uintptr_t)(buf), .counts = (n), .displs = (d), \
	.datatype = (t)}
#define SIDE_W(buf, n, d, t) {.buffer = (void *)(uintptr_t)(buf), .counts = (n), .displs = (d), \
	.types = (t)}

#define SEND_ONE(a) SIDE((a)->sendbuf, (a)->sendcount, (a)->sendtype)
#define RECV_ONE(a) SIDE((a)->recvbuf, (a)->recvcount, (a)->recvtype)
#define SEND_V(a, displs) SIDE_V((a)->sendbuf, (a)->sendcounts, (a)->displs, (a)->sendtype)
#define RECV_V(a, displs) SIDE_V((a)->recvbuf, (a)->recvcounts, (a)->displs, (a)->recvtype)
#define SEND_W(a) SIDE_W((a)->sendbuf, (a)->sendcounts, (a)->sdispls, (a)->sendtypes)
#define RECV_W(a) SIDE_W((a)->recvbuf, (a)->recvcounts, (a)->rdispls, (a)->recvtypes)
/* both sides of a reduction */
#define REDUCE_SEND(a) SIDE((a)->sendbuf, (a)->count, (a)->datatype)
#define REDUCE_RECV(a) SIDE((a)->recvbuf, (a)->count, (a)->datatype)

#define BARRIER(a) {.kind = COLL_BARRIER}
#define BCAST(a) {.kind = COLL_BCAST, .recv = SIDE((a)->buffer, (a)->count, (a)->datatype), \
	.root = (a)->root}
#define GATHER(a) {.kind = COLL_GATHER, .send = SEND_ONE(a), .recv = RECV_ONE(a), \
	.root = (a)->root, .even = true}
#define GATHERV(a) {.kind = COLL_GATHER, .send = SEND_ONE(a), .recv = RECV_V(a, displs), \
	.root = (a)->root}
#define SCATTER(a) {.kind = COLL_SCATTER, .send = SEND_ONE(a), .recv = RECV_ONE(a), \
	.root = (a)->root, .even = true}
#define SCATTERV(a) {.kind = COLL_SCATTER, .send = SEND_V(a, displs), .recv = RECV_ONE(a), \
	.root = (a)->root}
#define ALLGATHER(a) {.kind = COLL_ALLGATHER, .send = SEND_ONE(a), .recv = RECV_ONE(a), \
	.even = true}
#define ALLGATHERV(a) {.kind = COLL_ALLGATHER, .send = SEND_ONE(a), .recv = RECV_V(a, displs)}
#define ALLTOALL(a) {.kind = COLL_ALLTOALL, .send = SEND_ONE(a), .recv = RECV_ONE(a), .even = true}
#define ALLTOALLV(a) {.kind = COLL_ALLTOALL, .send = SEND_V(a, sdispls), .recv = RECV_V(a, rdispls)}
#define ALLTOALLW(a) {.kind = COLL_ALLTOALL, .send = SEND_W(a), .recv = RECV_W(a)}
#define REDUCTION(which, a) {.kind = (which), .send = REDUCE_SEND(a), .recv = REDUCE_RECV(a), \
	.op = (a)->op}
#define ALLREDUCE(a) REDUCTION(COLL_ALLREDUCE, a)
#define SCAN(a) REDUCTION(COLL_SCAN, a)
#define EXSCAN(a) REDUCTION(COLL_EXSCAN, a)
#define REDUCE(a) {.kind = COLL_REDUCE, .send = REDUCE_SEND(a), .recv = REDUCE_RECV(a), \
	.op = (a)->op, .root = (a)->root}
#define REDUCE_SCATTER(a) {.kind = COLL_REDUCE_SCATTER, \
	.send = SIDE((a)->sendbuf, 0, (a)->datatype), \
	.recv = {.buffer = (a)->recvbuf, .counts = (a)->recvcounts, .datatype = (a)->datatype}, \
	.op = (a)->op}
#define REDUCE_SCATTER_BLOCK(a) {.kind = COLL_REDUCE_SCATTER, \
	.send = SIDE((a)->sendbuf, 0, (a)->datatype), \
	.recv = SIDE((a)->recvbuf, (a)->recvcount, (a)->datatype), .op = (a)->op, .even = true}
#define NEIGHBOR_ALLGATHER(a) {.kind = COLL_NEIGHBOR_ALLGATHER, .send = SEND_ONE(a), \
	.recv = RECV_ONE(a), .even = true}
#define NEIGHBOR_ALLGATHERV(a) {.kind = COLL_NEIGHBOR_ALLGATHER, .send = SEND_ONE(a), \
	.recv = RECV_V(a, displs)}
#define NEIGHBOR_ALLTOALL(a) {.kind = COLL_NEIGHBOR_ALLTOALL, .send = SEND_ONE(a), \
	.recv = RECV_ONE(a), .even = true}
#define NEIGHBOR_ALLTOALLV(a) {.kind = COLL_NEIGHBOR_ALLTOALL, .send = SEND_V(a, sdispls), \
	.recv = RECV_V(a, rdispls)}
#define NEIGHBOR_ALLTOALLW(a) {.kind = COLL_NEIGHBOR_ALLTOALL, \
	.send = SIDE_W((a)->sendbuf, (a)->sendcounts, NUMBERS((a)->sdispls), (a)->sendtypes), \
	.recv = SIDE_W((a)->recvbuf, (a)->recvcounts, NUMBERS((a)->rdispls), (a)->recvtypes)}

/*
 * Check what is described and resolve it; then do it and wait, start it, or make it ready to be
 * started. Error class.
 */
int collective_blocking(struct call *call, struct comm *c, struct collective *k);
int collective_started(struct call *call, struct comm *c, struct collective *k,
	MPI_Request *request);
int collective_prepared(struct call *call, struct comm *c, struct collective *k,
	MPI_Request *request);

/* The checks: of a whole call, and of one side with so many blocks, which get their types. */
int collective_check(struct call *call, const struct comm *c, struct collective *k);
int collective_check_side(struct call *call, struct side *s, int blocks);

#endif
