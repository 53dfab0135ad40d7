/* SPDX-License-Identifier: MIT
 *
 * Arguments of Fortran as C's functions want them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi/fortran/fortran.h>

/* The common blocks of mpif.h. A program has them, too: there is one of each. */
int mpi_fortran_bottom_;
int mpi_fortran_in_place_;
int mpi_fortran_status_ignore_[MPI_F_STATUS_SIZE];
int mpi_fortran_statuses_ignore_[MPI_F_STATUS_SIZE];
int mpi_fortran_errcodes_ignore_;
int mpi_fortran_unweighted_;
int mpi_fortran_weights_empty_;

void *
fortran_buffer_out(void *buffer)
{
	if (buffer == &mpi_fortran_bottom_)
		return MPI_BOTTOM;
	return buffer == &mpi_fortran_in_place_ ? MPI_IN_PLACE : buffer;
}

const void *
fortran_buffer(const void *buffer)
{
	return fortran_buffer_out((void *)(uintptr_t)buffer);
}

MPI_Status *
fortran_status(int *status)
{
	if (status == mpi_fortran_status_ignore_ || status == mpi_fortran_statuses_ignore_)
		return MPI_STATUS_IGNORE;
	return (MPI_Status *)status;
}

int *
fortran_weights(const int *weights)
{
	if (weights == &mpi_fortran_unweighted_)
		return MPI_UNWEIGHTED;
	return weights == &mpi_fortran_weights_empty_ ? MPI_WEIGHTS_EMPTY :
		(int *)(uintptr_t)weights;
}

static void *
fortran_memory(size_t bytes)
{
	void *p = malloc(bytes > 0 ? bytes : 1);

	if (p == NULL) {
		fprintf(stderr, "atoll: no memory for an argument of a Fortran routine\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return p;
}

char *
fortran_text_in(const char *text, size_t len)
{
	char *out = fortran_memory(len + 1);

	while (len > 0 && *text == ' ') {
		text++;
		len--;
	}
	while (len > 0 && text[len - 1] == ' ')
		len--;
	memcpy(out, text, len);
	out[len] = '\0';
	return out;
}

void
fortran_text_out(const char *from, char *to, size_t len)
{
	size_t used = strnlen(from, len);

	memcpy(to, from, used);
	memset(to + used, ' ', len - used);
}

MPI_Request *
fortran_requests_in(const int *from, int count)
{
	MPI_Request *out = fortran_memory(count > 0 ? (size_t)count * sizeof(*out) : 0);

	for (int i = 0; i < count; i++)
		out[i] = MPI_Request_fromint(from[i]);
	return out;
}

void
fortran_requests_out(int *to, MPI_Request *from, int count)
{
	for (int i = 0; i < count; i++)
		to[i] = MPI_Request_toint(from[i]);
}

MPI_Datatype *
fortran_types_in(const int *from, int count)
{
	MPI_Datatype *out = fortran_memory(count > 0 ? (size_t)count * sizeof(*out) : 0);

	for (int i = 0; i < count; i++)
		out[i] = MPI_Type_fromint(from[i]);
	return out;
}

int
fortran_is_in_place(const void *buffer)
{
	return buffer == &mpi_fortran_in_place_;
}

int
fortran_peers(int comm)
{
	MPI_Comm c = MPI_Comm_fromint(comm);
	int inter = 0, n = 0;

	PMPI_Comm_test_inter(c, &inter);
	if (inter)
		PMPI_Comm_remote_size(c, &n);
	else
		PMPI_Comm_size(c, &n);
	return n;
}

struct fortran_neighbors {
	int sources;
	int destinations;
};

static struct fortran_neighbors
fortran_neighbors(int comm)
{
	MPI_Comm c = MPI_Comm_fromint(comm);
	int topology = MPI_UNDEFINED, in = 0, out = 0, rank, weighted;

	PMPI_Topo_test(c, &topology);
	if (topology == MPI_DIST_GRAPH) {
		PMPI_Dist_graph_neighbors_count(c, &in, &out, &weighted);
		return (struct fortran_neighbors){in, out};
	}
	if (topology == MPI_CART) {
		PMPI_Cartdim_get(c, &in);
		in *= 2;
	} else if (topology == MPI_GRAPH) {
		PMPI_Comm_rank(c, &rank);
		PMPI_Graph_neighbors_count(c, rank, &in);
	}
	return (struct fortran_neighbors){in, in};
}

int
fortran_sources(int comm)
{
	return fortran_neighbors(comm).sources;
}

int
fortran_destinations(int comm)
{
	return fortran_neighbors(comm).destinations;
}
