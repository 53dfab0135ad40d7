/* SPDX-License-Identifier: MIT
 *
 * Routines that name requests by their place in an array, which begins at 1 here; and the contents
 * of a datatype.
 */
#include <stdlib.h>
#include <mpi/fortran/routines.h>

static int
fortran_index(int index)
{
	return index == MPI_UNDEFINED ? index : index + 1;
}

static void
fortran_indices(int *indices, int count)
{
	for (int i = 0; i < count; i++)
		indices[i]++;
}

FORTRAN_ROUTINE(waitany, (const int *count, int *requests, int *index, int *status, int *ierror))
{
	MPI_Request *r = fortran_requests_in(requests, *count);

	*ierror = MPI_Waitany(*count, r, index, fortran_status(status));
	if (*ierror == MPI_SUCCESS)
		*index = fortran_index(*index);
	fortran_requests_out(requests, r, *count);
	free(r);
}

FORTRAN_ROUTINE(testany, (const int *count, int *requests, int *index, int *flag, int *status,
	int *ierror))
{
	MPI_Request *r = fortran_requests_in(requests, *count);

	*ierror = MPI_Testany(*count, r, index, flag, fortran_status(status));
	if (*ierror == MPI_SUCCESS)
		*index = fortran_index(*index);
	fortran_requests_out(requests, r, *count);
	free(r);
}

FORTRAN_ROUTINE(waitsome, (const int *count, int *requests, int *done, int *indices, int *statuses,
	int *ierror))
{
	MPI_Request *r = fortran_requests_in(requests, *count);

	*done = 0;
	*ierror = MPI_Waitsome(*count, r, done, indices, fortran_status(statuses));
	fortran_indices(indices, *done);
	fortran_requests_out(requests, r, *count);
	free(r);
}

FORTRAN_ROUTINE(testsome, (const int *count, int *requests, int *done, int *indices, int *statuses,
	int *ierror))
{
	MPI_Request *r = fortran_requests_in(requests, *count);

	*done = 0;
	*ierror = MPI_Testsome(*count, r, done, indices, fortran_status(statuses));
	fortran_indices(indices, *done);
	fortran_requests_out(requests, r, *count);
	free(r);
}

FORTRAN_ROUTINE(request_get_status_any, (const int *count, const int *requests, int *index,
	int *flag, int *status, int *ierror))
{
	MPI_Request *r = fortran_requests_in(requests, *count);

	*ierror = MPI_Request_get_status_any(*count, r, index, flag, fortran_status(status));
	if (*ierror == MPI_SUCCESS)
		*index = fortran_index(*index);
	free(r);
}

FORTRAN_ROUTINE(request_get_status_some, (const int *count, const int *requests, int *done,
	int *indices, int *statuses, int *ierror))
{
	MPI_Request *r = fortran_requests_in(requests, *count);

	*done = 0;
	*ierror = MPI_Request_get_status_some(*count, r, done, indices, fortran_status(statuses));
	fortran_indices(indices, *done);
	free(r);
}

FORTRAN_ROUTINE(type_get_contents,
    (const int *type, const int *integers_max, const int *addresses_max, const int *types_max,
	int *integers, MPI_Aint *addresses, int *types,
	int *ierror))
{
	MPI_Datatype t = MPI_Type_fromint(*type), *found;
	int n[3] = {0, 0, 0}, combiner;

	*ierror = PMPI_Type_get_envelope(t, &n[0], &n[1], &n[2], &combiner);
	if (*ierror != MPI_SUCCESS)
		return;
	n[2] = n[2] < *types_max ? n[2] : *types_max;
	found = fortran_types_in(types, n[2]);
	*ierror = MPI_Type_get_contents(t, *integers_max, *addresses_max, *types_max, integers,
		addresses, found);
	for (int i = 0; *ierror == MPI_SUCCESS && i < n[2]; i++)
		types[i] = MPI_Type_toint(found[i]);
	free(found);
}
