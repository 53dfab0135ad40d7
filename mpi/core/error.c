/* SPDX-License-Identifier: MIT
 *
 * What the error classes mean. Error codes are the classes themselves.
 */
#include <stddef.h>
#include <mpi/core/errhandler.h>

static const char *const texts[] = {
	[MPI_SUCCESS] = "no error",
	[MPI_ERR_BUFFER] = "invalid buffer",
	[MPI_ERR_COUNT] = "invalid count",
	[MPI_ERR_TYPE] = "invalid datatype",
	[MPI_ERR_TAG] = "invalid tag",
	[MPI_ERR_COMM] = "invalid communicator",
	[MPI_ERR_RANK] = "invalid rank",
	[MPI_ERR_REQUEST] = "invalid request",
	[MPI_ERR_ROOT] = "invalid root",
	[MPI_ERR_GROUP] = "invalid group",
	[MPI_ERR_OP] = "invalid operation, or not defined for this datatype",
	[MPI_ERR_TOPOLOGY] = "invalid topology",
	[MPI_ERR_DIMS] = "invalid dimensions",
	[MPI_ERR_ARG] = "invalid argument",
	[MPI_ERR_UNKNOWN] = "unknown error",
	[MPI_ERR_TRUNCATE] = "message is longer than the receive buffer",
	[MPI_ERR_OTHER] = "error of the system or wrong state of the library",
	[MPI_ERR_INTERN] = "internal error",
	[MPI_ERR_PENDING] = "request is not done",
	[MPI_ERR_IN_STATUS] = "error code is in the status",
	[MPI_ERR_ACCESS] = "permission denied",
	[MPI_ERR_AMODE] = "invalid access mode",
	[MPI_ERR_ASSERT] = "invalid assertion",
	[MPI_ERR_BAD_FILE] = "invalid file name",
	[MPI_ERR_BASE] = "invalid base",
	[MPI_ERR_CONVERSION] = "error in a data conversion function",
	[MPI_ERR_DISP] = "invalid displacement",
	[MPI_ERR_DUP_DATAREP] = "data representation exists already",
	[MPI_ERR_FILE_EXISTS] = "file exists",
	[MPI_ERR_FILE_IN_USE] = "file is in use",
	[MPI_ERR_FILE] = "invalid file handle",
	[MPI_ERR_INFO_KEY] = "invalid info key",
	[MPI_ERR_INFO_NOKEY] = "no such info key",
	[MPI_ERR_INFO_VALUE] = "invalid info value",
	[MPI_ERR_INFO] = "invalid info object",
	[MPI_ERR_IO] = "input or output error",
	[MPI_ERR_KEYVAL] = "invalid attribute key",
	[MPI_ERR_LOCKTYPE] = "invalid lock type",
	[MPI_ERR_NAME] = "no such service name",
	[MPI_ERR_NO_MEM] = "out of memory",
	[MPI_ERR_NOT_SAME] = "argument differs between ranks",
	[MPI_ERR_NO_SPACE] = "no space left",
	[MPI_ERR_NO_SUCH_FILE] = "no such file",
	[MPI_ERR_PORT] = "invalid port name",
	[MPI_ERR_QUOTA] = "quota exceeded",
	[MPI_ERR_READ_ONLY] = "file is read-only",
	[MPI_ERR_RMA_ATTACH] = "memory cannot be attached",
	[MPI_ERR_RMA_CONFLICT] = "conflicting accesses to a window",
	[MPI_ERR_RMA_RANGE] = "target memory is outside of the window",
	[MPI_ERR_RMA_SHARED] = "memory cannot be shared",
	[MPI_ERR_RMA_SYNC] = "wrong synchronisation of a window",
	[MPI_ERR_SERVICE] = "invalid service name",
	[MPI_ERR_SIZE] = "invalid size",
	[MPI_ERR_SPAWN] = "cannot start processes",
	[MPI_ERR_UNSUPPORTED_DATAREP] = "unsupported data representation",
	[MPI_ERR_UNSUPPORTED_OPERATION] = "unsupported operation",
	[MPI_ERR_WIN] = "invalid window",
	[MPI_ERR_RMA_FLAVOR] = "wrong kind of window",
	[MPI_ERR_PROC_ABORTED] = "a peer has ended or its cluster is dead",
	[MPI_ERR_VALUE_TOO_LARGE] = "value is too large for the argument",
	[MPI_ERR_SESSION] = "invalid session",
	[MPI_ERR_ERRHANDLER] = "invalid error handler",
	[MPI_ERR_ABI] = "unsupported property of the ABI",
};

const char *
mpi_error_text(int class)
{
	int count = (int)(sizeof(texts) / sizeof(texts[0]));

	return class >= 0 && class < count ? texts[class] : NULL;
}
