/* SPDX-License-Identifier: MIT
 *
 * Statuses: what the library keeps in the internal words of MPI_Status. MPI_ERROR belongs to the
 * functions that complete several requests. Where a status is given to be written it may be
 * MPI_STATUS_IGNORE.
 */
#ifndef MPI_CORE_STATUS_H
#define MPI_CORE_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <mpi.h>

enum status_word { STATUS_BYTES_LOW, STATUS_BYTES_HIGH, STATUS_CANCELLED };

/* Bytes received. */
static inline uint64_t
mpi_status_bytes(const MPI_Status *status)
{
	return (uint64_t)(uint32_t)status->MPI_internal[STATUS_BYTES_HIGH] << 32 |
		(uint32_t)status->MPI_internal[STATUS_BYTES_LOW];
}

static inline void
mpi_status_set_bytes(MPI_Status *status, uint64_t bytes)
{
	status->MPI_internal[STATUS_BYTES_LOW] = (int)(uint32_t)bytes;
	status->MPI_internal[STATUS_BYTES_HIGH] = (int)(uint32_t)(bytes >> 32);
}

static inline bool
mpi_status_is_cancelled(const MPI_Status *status)
{
	return status->MPI_internal[STATUS_CANCELLED] != 0;
}

static inline void
mpi_status_set_cancelled(MPI_Status *status, bool cancelled)
{
	status->MPI_internal[STATUS_CANCELLED] = cancelled;
}

static inline void
mpi_status_set(MPI_Status *status, int source, int tag, uint64_t bytes)
{
	if (status == MPI_STATUS_IGNORE)
		return;
	status->MPI_SOURCE = source;
	status->MPI_TAG = tag;
	mpi_status_set_bytes(status, bytes);
	mpi_status_set_cancelled(status, false);
}

/* Of what has no source; MPI_ERROR is left alone. */
static inline void
mpi_status_empty(MPI_Status *status)
{
	mpi_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

/* Of nothing: MPI_REQUEST_NULL waited for. */
static inline void
mpi_status_nothing(MPI_Status *status)
{
	mpi_status_empty(status);
	if (status != MPI_STATUS_IGNORE)
		status->MPI_ERROR = MPI_SUCCESS;
}

/* Of a receive from MPI_PROC_NULL. */
static inline void
mpi_status_null(MPI_Status *status)
{
	mpi_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
}

#endif
