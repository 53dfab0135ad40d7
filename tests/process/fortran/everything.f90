! SPDX-License-Identifier: MIT
!
! The module mpi: what its routines do differently from C's: handles, statuses, indices, texts,
! logicals, names for addresses, and functions that are handed over. Any number of ranks.
module everything_parts
  use mpi
  implicit none
  integer :: wrong = 0, handled = 0, queried = 0, released = 0
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what
    if (.not. good) then
      print '(a,a)', 'FAIL ', what
      wrong = wrong + 1
    end if
  end subroutine check

  subroutine add_twice(in, inout, length, datatype)
    integer :: length, datatype
    integer :: in(length), inout(length)
    call check(datatype == MPI_INTEGER, 'an operation gets its datatype')
    inout = in + inout + 1
  end subroutine add_twice

  subroutine handler(comm, code)
    integer :: comm, code
    call check(comm == MPI_COMM_SELF .and. code /= MPI_SUCCESS, 'an error handler gets its communicator')
    handled = handled + 1
  end subroutine handler

  subroutine copy_attribute(comm, keyval, extra, in, out, flag, ierror)
    integer :: comm, keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    out = in + extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine copy_attribute

  subroutine query(extra, status, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), ierror
    queried = queried + int(extra)
    status(MPI_SOURCE) = 7
    status(MPI_TAG) = 8
    call MPI_Status_set_elements(status, MPI_BYTE, 5, ierror)
    call MPI_Status_set_cancelled(status, .false., ierror)
  end subroutine query

  subroutine release(extra, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: ierror
    released = released + int(extra)
    ierror = MPI_SUCCESS
  end subroutine release

  subroutine cancel(extra, complete, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierror
    call check(extra == 0 .and. complete, 'nothing is cancelled')
    ierror = MPI_SUCCESS
  end subroutine cancel

  subroutine messages(rank, n)
    integer, intent(in) :: rank, n
    integer :: to, from, ierror, i, done, requests(4), statuses(MPI_STATUS_SIZE, 4), indices(4), status(MPI_STATUS_SIZE)
    integer :: count
    double precision :: sent(10), got(10, 2)
    logical :: flag
    to = mod(rank + 1, n)
    from = mod(rank + n - 1, n)
    sent = rank
    call MPI_Sendrecv(sent, 10, MPI_DOUBLE_PRECISION, to, 3, got, 10, MPI_DOUBLE_PRECISION, from, MPI_ANY_TAG, &
                      MPI_COMM_WORLD, status, ierror)
    call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, ierror)
    call check(all(got(:, 1) == from), 'data arrive')
    call check(status(MPI_SOURCE) == from .and. status(MPI_TAG) == 3 .and. count == 10, 'a status tells')
    call MPI_Irecv(got(1, 1), 10, MPI_DOUBLE_PRECISION, from, 1, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Irecv(got(1, 2), 10, MPI_DOUBLE_PRECISION, from, 2, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Isend(sent, 10, MPI_DOUBLE_PRECISION, to, 1, MPI_COMM_WORLD, requests(3), ierror)
    call MPI_Wait(requests(3), MPI_STATUS_IGNORE, ierror)
    call check(requests(3) == MPI_REQUEST_NULL, 'a request is gone after its wait')
    call MPI_Waitany(2, requests, i, status, ierror)
    call check(i == 1 .and. requests(1) == MPI_REQUEST_NULL .and. requests(2) /= MPI_REQUEST_NULL, 'the first index is 1')
    call MPI_Isend(sent, 10, MPI_DOUBLE_PRECISION, to, 2, MPI_COMM_WORLD, requests(3), ierror)
    call MPI_Waitsome(2, requests, done, indices, statuses, ierror)
    call check(done == 1 .and. indices(1) == 2 .and. statuses(MPI_TAG, 1) == 2, 'indices of some begin at 1')
    call MPI_Waitall(4, [MPI_REQUEST_NULL, MPI_REQUEST_NULL, requests(3), MPI_REQUEST_NULL], MPI_STATUSES_IGNORE, ierror)
    call MPI_Testany(2, requests, i, flag, status, ierror)
    call check(flag .and. i == MPI_UNDEFINED, 'no request has no index')
  end subroutine messages

  subroutine collectives(rank, n)
    integer, intent(in) :: rank, n
    integer :: ierror, i, all(n), mine(n), op, place, request
    integer :: counts(n), displs(n), types(n), key(2)
    place = rank + 1
    call MPI_Allreduce(MPI_IN_PLACE, place, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call check(place == n * (n + 1) / 2, 'MPI_IN_PLACE')
    call MPI_Op_create(add_twice, .true., op, ierror)
    call MPI_Allreduce(rank, place, 1, MPI_INTEGER, op, MPI_COMM_WORLD, ierror)
    call check(place == n * (n - 1) / 2 + n - 1, 'an operation of the program')
    call MPI_Op_free(op, ierror)
    call check(op == MPI_OP_NULL, 'an operation is gone after its free')
    call MPI_Allgather(rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call check(all(n) == n - 1 .and. sum(all) == n * (n - 1) / 2, 'allgather')
    counts = 1
    types = MPI_INTEGER
    displs = [(4 * i, i = 0, n - 1)]
    mine = [(100 * rank + i, i = 0, n - 1)]
    call MPI_Ialltoallw(mine, counts, displs, types, all, counts, displs, types, MPI_COMM_WORLD, request, ierror)
    types = MPI_DATATYPE_NULL
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call check(all(1) == rank .and. all(n) == 100 * (n - 1) + rank, 'alltoallw')
    key = [rank, n - rank]
    call MPI_Allreduce(MPI_IN_PLACE, key, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, ierror)
    call check(key(1) == n - 1 .and. key(2) == 1, 'MPI_MAXLOC of MPI_2INTEGER')
  end subroutine collectives

  subroutine texts()
    character(len=MPI_MAX_PROCESSOR_NAME) :: name
    character(len=20) :: value
    character(len=4) :: short
    integer :: length, ierror, comm, info, keys, n
    logical :: flag
    call MPI_Get_processor_name(name, length, ierror)
    call check(length > 0 .and. len_trim(name) == length, 'a text comes with blanks behind it')
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
    call MPI_Comm_set_name(comm, 'a name   ', ierror)
    call MPI_Comm_get_name(comm, value, length, ierror)
    call check(value == 'a name' .and. length == 6, 'a text goes without the blanks behind it')
    call MPI_Comm_get_name(comm, short, length, ierror)
    call check(short == 'a na', 'a text that is too long is cut')
    call MPI_Comm_free(comm, ierror)
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, ' key ', ' some value ', ierror)
    call MPI_Info_get_nkeys(info, keys, ierror)
    n = 0
    call MPI_Info_get_string(info, 'key', n, value, flag, ierror)
    call check(keys == 1 .and. flag .and. n == 10, 'the length of a value')
    call MPI_Info_get_string(info, 'key', n, value, flag, ierror)
    call check(value == 'some value' .and. n == 10, 'a value')
    call MPI_Info_get_string(info, 'other', n, value, flag, ierror)
    call check(.not. flag, 'no value')
    call MPI_Info_free(info, ierror)
  end subroutine texts

  subroutine topologies(n)
    integer, intent(in) :: n
    integer :: cart, ierror, dims(1), coords(1), left, right, graph, in, out, half
    logical :: periods(1), weighted
    dims(1) = n
    call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, [.true.], .false., cart, ierror)
    call MPI_Cart_get(cart, 1, dims, periods, coords, ierror)
    call MPI_Cart_shift(cart, 0, 1, left, right, ierror)
    call check(periods(1) .and. right == mod(coords(1) + 1, n) .and. left == mod(coords(1) + n - 1, n), 'a ring')
    call MPI_Comm_split(cart, mod(coords(1), 2), coords(1), half, ierror)
    call MPI_Comm_free(half, ierror)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [left], MPI_UNWEIGHTED, 1, [right], MPI_UNWEIGHTED, &
                                        MPI_INFO_NULL, .false., graph, ierror)
    call MPI_Dist_graph_neighbors_count(graph, in, out, weighted, ierror)
    call check(in == 1 .and. out == 1 .and. .not. weighted, 'MPI_UNWEIGHTED')
    call MPI_Comm_free(graph, ierror)
    call MPI_Comm_free(cart, ierror)
  end subroutine topologies

  subroutine attributes()
    integer :: keyval, ierror, comm
    integer(kind=MPI_ADDRESS_KIND) :: value, far
    logical :: flag
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
    call check(flag .and. value >= 32767, 'the largest tag')
    far = 2_MPI_ADDRESS_KIND**40
    call MPI_Comm_create_keyval(copy_attribute, MPI_COMM_NULL_DELETE_FN, keyval, far, ierror)
    call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, 5_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
    call MPI_Comm_get_attr(comm, keyval, value, flag, ierror)
    call check(flag .and. value == far + 5, 'an attribute is copied by the function of its key')
    call MPI_Comm_free(comm, ierror)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, keyval, ierror)
    call MPI_Comm_free_keyval(keyval, ierror)
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, keyval, far, ierror)
    call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, 5_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
    call MPI_Comm_get_attr(comm, keyval, value, flag, ierror)
    call check(.not. flag, 'an attribute of MPI_COMM_NULL_COPY_FN is not copied')
    call MPI_Comm_free(comm, ierror)
    call MPI_Comm_free_keyval(keyval, ierror)
  end subroutine attributes

  subroutine errors()
    integer :: errhandler, ierror, length
    character(len=MPI_MAX_ERROR_STRING) :: text
    call MPI_Comm_create_errhandler(handler, errhandler, ierror)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler, ierror)
    call MPI_Errhandler_free(errhandler, ierror)
    call MPI_Send(length, 1, MPI_INTEGER, 99, 0, MPI_COMM_SELF, ierror)
    call check(handled == 1 .and. ierror /= MPI_SUCCESS, 'an error handler of the program')
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierror)
    call MPI_Send(length, -1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, ierror)
    call MPI_Error_string(ierror, text, length, ierror)
    call check(len_trim(text) == length .and. length > 5, 'the text of an error')
  end subroutine errors

  subroutine generalised()
    integer :: request, status(MPI_STATUS_SIZE), ierror, count
    call MPI_Grequest_start(query, release, cancel, 3_MPI_ADDRESS_KIND, request, ierror)
    call MPI_Grequest_complete(request, ierror)
    call MPI_Wait(request, status, ierror)
    call MPI_Get_count(status, MPI_BYTE, count, ierror)
    call check(queried == 3 .and. released == 3 .and. status(MPI_TAG) == 8 .and. count == 5, 'a generalised request')
  end subroutine generalised

  subroutine datatypes()
    type pair
      sequence
      double precision :: d
      integer :: i, hole
    end type pair
    type(pair) :: p(3)
    integer :: t, r, ierror, sizes, n(4), ints(4), types(2), status(MPI_STATUS_SIZE)
    integer(kind=MPI_ADDRESS_KIND) :: base, at(2), lb, extent
    call MPI_Get_address(p(1), base, ierror)
    call MPI_Get_address(p(1)%i, at(2), ierror)
    at(1) = 0
    at(2) = MPI_Aint_diff(at(2), base)
    call MPI_Type_create_struct(2, [1, 1], at, [MPI_DOUBLE_PRECISION, MPI_INTEGER], r, ierror)
    call MPI_Type_create_resized(r, 0_MPI_ADDRESS_KIND, 16_MPI_ADDRESS_KIND, t, ierror)
    call MPI_Type_get_envelope(r, n(1), n(2), n(3), n(4), ierror)
    call MPI_Type_get_contents(r, n(1), n(2), n(3), ints, at, types, ierror)
    call check(n(4) == MPI_COMBINER_STRUCT .and. types(1) == MPI_DOUBLE_PRECISION .and. types(2) == MPI_INTEGER, 'contents')
    call MPI_Type_commit(t, ierror)
    call MPI_Type_size(t, sizes, ierror)
    call MPI_Type_get_extent(t, lb, extent, ierror)
    call check(sizes == 12 .and. extent == 16, 'the size of a structure')
    p(1:2) = [pair(1.5d0, 4, 0), pair(2.5d0, 5, 0)]
    call MPI_Sendrecv(p(1), 1, t, 0, 0, p(3), 1, t, 0, 0, MPI_COMM_SELF, status, ierror)
    call check(p(3)%d == 1.5d0 .and. p(3)%i == 4, 'a structure')
    call MPI_Type_free(t, ierror)
    call MPI_Type_free(r, ierror)
    call MPI_Sizeof(p(1)%d, sizes, ierror)
    call check(sizes == 8, 'MPI_Sizeof')
    call MPI_Sizeof(ints, sizes, ierror)
    call check(sizes == 4, 'MPI_Sizeof of an array')
  end subroutine datatypes

  subroutine buffers(rank, n)
    integer, intent(in) :: rank, n
    integer :: ierror, length, value
    integer :: room(1000)
    call MPI_Buffer_attach(room, 4000, ierror)
    call MPI_Bsend(rank, 1, MPI_INTEGER, mod(rank + 1, n), 0, MPI_COMM_WORLD, ierror)
    call MPI_Recv(value, 1, MPI_INTEGER, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call MPI_Buffer_detach(room, length, ierror)
    call check(length == 4000 .and. value == mod(rank + n - 1, n), 'a buffered send')
  end subroutine buffers
end module everything_parts

program everything
  use everything_parts
  implicit none
  integer :: ierror, rank, n, all_wrong, provided
  logical :: flag
  call MPI_Init_thread(MPI_THREAD_SINGLE, provided, ierror)
  call MPI_Initialized(flag, ierror)
  call check(flag, 'initialized')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierror)
  call messages(rank, n)
  call collectives(rank, n)
  call texts()
  call topologies(n)
  call attributes()
  call errors()
  call generalised()
  call datatypes()
  call buffers(rank, n)
  call check(MPI_Wtime() > 0 .and. MPI_Wtick() > 0, 'the clock')
  call MPI_Allreduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0 .and. all_wrong == 0) print '(a)', 'No errors'
  call MPI_Finalize(ierror)
end program everything
