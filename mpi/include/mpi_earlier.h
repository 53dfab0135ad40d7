/* SPDX-License-Identifier: MIT
 *
 * What the standard ABI has no symbol for and programs use all the same, a part of mpi.h: the
 * handles of Fortran as C sees them (MPI 5.0, 19.3.4), and a type that MPI-3.0 removed. Nothing
 * here is in the library.
 */
#ifndef ATOLL_MPI_EARLIER_H
#define ATOLL_MPI_EARLIER_H

typedef int MPI_Fint;

#define MPI_Comm_c2f(comm)              ((MPI_Fint)MPI_Comm_toint(comm))
#define MPI_Comm_f2c(comm)              MPI_Comm_fromint((int)(comm))
#define MPI_Errhandler_c2f(errhandler)  ((MPI_Fint)MPI_Errhandler_toint(errhandler))
#define MPI_Errhandler_f2c(errhandler)  MPI_Errhandler_fromint((int)(errhandler))
#define MPI_File_c2f(file)              ((MPI_Fint)MPI_File_toint(file))
#define MPI_File_f2c(file)              MPI_File_fromint((int)(file))
#define MPI_Group_c2f(group)            ((MPI_Fint)MPI_Group_toint(group))
#define MPI_Group_f2c(group)            MPI_Group_fromint((int)(group))
#define MPI_Info_c2f(info)              ((MPI_Fint)MPI_Info_toint(info))
#define MPI_Info_f2c(info)              MPI_Info_fromint((int)(info))
#define MPI_Message_c2f(message)        ((MPI_Fint)MPI_Message_toint(message))
#define MPI_Message_f2c(message)        MPI_Message_fromint((int)(message))
#define MPI_Op_c2f(op)                  ((MPI_Fint)MPI_Op_toint(op))
#define MPI_Op_f2c(op)                  MPI_Op_fromint((int)(op))
#define MPI_Request_c2f(request)        ((MPI_Fint)MPI_Request_toint(request))
#define MPI_Request_f2c(request)        MPI_Request_fromint((int)(request))
#define MPI_Session_c2f(session)        ((MPI_Fint)MPI_Session_toint(session))
#define MPI_Session_f2c(session)        MPI_Session_fromint((int)(session))
#define MPI_Type_c2f(datatype)          ((MPI_Fint)MPI_Type_toint(datatype))
#define MPI_Type_f2c(datatype)          MPI_Type_fromint((int)(datatype))
#define MPI_Win_c2f(win)                ((MPI_Fint)MPI_Win_toint(win))
#define MPI_Win_f2c(win)                MPI_Win_fromint((int)(win))

#define PMPI_Comm_c2f(comm)             MPI_Comm_c2f(comm)
#define PMPI_Comm_f2c(comm)             MPI_Comm_f2c(comm)
#define PMPI_Errhandler_c2f(errhandler) MPI_Errhandler_c2f(errhandler)
#define PMPI_Errhandler_f2c(errhandler) MPI_Errhandler_f2c(errhandler)
#define PMPI_File_c2f(file)             MPI_File_c2f(file)
#define PMPI_File_f2c(file)             MPI_File_f2c(file)
#define PMPI_Group_c2f(group)           MPI_Group_c2f(group)
#define PMPI_Group_f2c(group)           MPI_Group_f2c(group)
#define PMPI_Info_c2f(info)             MPI_Info_c2f(info)
#define PMPI_Info_f2c(info)             MPI_Info_f2c(info)
#define PMPI_Message_c2f(message)       MPI_Message_c2f(message)
#define PMPI_Message_f2c(message)       MPI_Message_f2c(message)
#define PMPI_Op_c2f(op)                 MPI_Op_c2f(op)
#define PMPI_Op_f2c(op)                 MPI_Op_f2c(op)
#define PMPI_Request_c2f(request)       MPI_Request_c2f(request)
#define PMPI_Request_f2c(request)       MPI_Request_f2c(request)
#define PMPI_Session_c2f(session)       MPI_Session_c2f(session)
#define PMPI_Session_f2c(session)       MPI_Session_f2c(session)
#define PMPI_Type_c2f(datatype)         MPI_Type_c2f(datatype)
#define PMPI_Type_f2c(datatype)         MPI_Type_f2c(datatype)
#define PMPI_Win_c2f(win)               MPI_Win_c2f(win)
#define PMPI_Win_f2c(win)               MPI_Win_f2c(win)

/* A status as Fortran's array of MPI_F_STATUS_SIZE integers, and back. */
static __inline__ int
MPI_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status)
{
	int i;

	f_status[MPI_F_SOURCE] = c_status->MPI_SOURCE;
	f_status[MPI_F_TAG] = c_status->MPI_TAG;
	f_status[MPI_F_ERROR] = c_status->MPI_ERROR;
	for (i = 0; i < 5; i++)
		f_status[MPI_F_ERROR + 1 + i] = c_status->MPI_internal[i];
	return MPI_SUCCESS;
}

static __inline__ int
MPI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status)
{
	int i;

	c_status->MPI_SOURCE = f_status[MPI_F_SOURCE];
	c_status->MPI_TAG = f_status[MPI_F_TAG];
	c_status->MPI_ERROR = f_status[MPI_F_ERROR];
	for (i = 0; i < 5; i++)
		c_status->MPI_internal[i] = f_status[MPI_F_ERROR + 1 + i];
	return MPI_SUCCESS;
}

typedef MPI_Comm_errhandler_function MPI_Handler_function;

#endif
