C     SPDX-License-Identifier: MIT
C
C     A program in fixed source form with mpif.h, as codes of long ago are written: without
C     interfaces, with routines that MPI-3.0 removed. Any number of ranks.
      subroutine addup(in, inout, length, datatype)
      integer length, datatype, i
      integer in(*), inout(*)
      do 10 i = 1, length
        inout(i) = inout(i) + in(i)
   10 continue
      end

      program earlier
      include 'mpif.h'
      integer ierr, rank, n, op, i, wrong, total, keyval, value
      integer lengths(2), displs(2), types(2), newtype, extent
      integer status(MPI_STATUS_SIZE), requests(2)
      integer sendbuf(4), recvbuf(4)
      real x(3), y(3)
      double precision t
      logical flag
      character*(MPI_MAX_PROCESSOR_NAME) name
      external addup
      call MPI_INIT(ierr)
      t = MPI_WTIME()
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, n, ierr)
      wrong = 0
      do 20 i = 1, 4
        sendbuf(i) = rank + i
   20 continue
      call MPI_OP_CREATE(addup, .true., op, ierr)
      call MPI_REDUCE(sendbuf, recvbuf, 4, MPI_INTEGER, op, 0,
     &     MPI_COMM_WORLD, ierr)
      if (rank .eq. 0 .and. recvbuf(1) .ne. n * (n + 1) / 2)
     &     wrong = wrong + 1
      call MPI_OP_FREE(op, ierr)
      x(1) = 1.5
      x(2) = 2.5
      x(3) = rank
      call MPI_IRECV(y, 3, MPI_REAL, mod(rank + n - 1, n), 5,
     &     MPI_COMM_WORLD, requests(1), ierr)
      call MPI_ISEND(x, 3, MPI_REAL, mod(rank + 1, n), 5,
     &     MPI_COMM_WORLD, requests(2), ierr)
      call MPI_WAITALL(2, requests, MPI_STATUSES_IGNORE, ierr)
      if (y(2) .ne. 2.5 .or. y(3) .ne. mod(rank + n - 1, n))
     &     wrong = wrong + 1
      lengths(1) = 1
      lengths(2) = 2
      displs(1) = 0
      displs(2) = 8
      types(1) = MPI_DOUBLE_PRECISION
      types(2) = MPI_INTEGER
      call MPI_TYPE_STRUCT(2, lengths, displs, types, newtype, ierr)
      call MPI_TYPE_EXTENT(newtype, extent, ierr)
      if (extent .ne. 16) wrong = wrong + 1
      call MPI_TYPE_COMMIT(newtype, ierr)
      call MPI_TYPE_FREE(newtype, ierr)
      call MPI_KEYVAL_CREATE(MPI_DUP_FN, MPI_NULL_DELETE_FN, keyval, 0,
     &     ierr)
      call MPI_ATTR_PUT(MPI_COMM_WORLD, keyval, -17, ierr)
      call MPI_ATTR_GET(MPI_COMM_WORLD, keyval, value, flag, ierr)
      if (.not. flag .or. value .ne. -17) wrong = wrong + 1
      call MPI_ATTR_DELETE(MPI_COMM_WORLD, keyval, ierr)
      call MPI_KEYVAL_FREE(keyval, ierr)
      call MPI_ERRHANDLER_SET(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
      call MPI_SEND(x, 1, MPI_REAL, n + 5, 0, MPI_COMM_WORLD, ierr)
      if (ierr .eq. MPI_SUCCESS) wrong = wrong + 1
      call MPI_GET_PROCESSOR_NAME(name, i, ierr)
      if (name(i + 1:) .ne. ' ') wrong = wrong + 1
      if (MPI_WTIME() .lt. t) wrong = wrong + 1
      call MPI_ALLREDUCE(wrong, total, 1, MPI_INTEGER, MPI_SUM,
     &     MPI_COMM_WORLD, ierr)
      if (rank .eq. 0 .and. total .eq. 0) print '(a)', 'No errors'
      call MPI_FINALIZE(ierr)
      end
