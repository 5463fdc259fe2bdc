! SPDX-License-Identifier: Apache-2.0
! Rank 0 calls the functions of C, from the start of MPI on, and the others the routines of Fortran. Open MPI's handles.
program main
  use iso_c_binding
  implicit none
  include 'mpif.h'
  interface
    integer(c_int) function c_init(count, arguments) bind(C, name='MPI_Init')
      import
      type(c_ptr), value :: count, arguments
    end function
    type(c_ptr) function c_comm(number) bind(C, name='MPI_Comm_f2c')
      import
      integer(c_int), value :: number
    end function
    type(c_ptr) function c_type(number) bind(C, name='MPI_Type_f2c')
      import
      integer(c_int), value :: number
    end function
    type(c_ptr) function c_op(number) bind(C, name='MPI_Op_f2c')
      import
      integer(c_int), value :: number
    end function
    integer(c_int) function c_barrier(comm) bind(C, name='MPI_Barrier')
      import
      type(c_ptr), value :: comm
    end function
    integer(c_int) function c_bcast(buffer, count, type, root, comm) bind(C, name='MPI_Bcast')
      import
      integer(c_int) :: buffer(*)
      integer(c_int), value :: count, root
      type(c_ptr), value :: type, comm
    end function
    integer(c_int) function c_allreduce(send, receive, count, type, op, comm) bind(C, name='MPI_Allreduce')
      import
      integer(c_int) :: send(*), receive(*)
      integer(c_int), value :: count
      type(c_ptr), value :: type, op, comm
    end function
  end interface
  character(16) :: text
  integer :: rank, ranks, round, error, values(2), sums(2)
  logical :: in_c
  call get_environment_variable('OMPI_COMM_WORLD_RANK', text)
  in_c = trim(text) == '0'
  if (in_c) then
    error = c_init(c_null_ptr, c_null_ptr)
  else
    call MPI_Init(error)
  end if
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  do round = 1, 300
    values = merge(round, -1, rank == 0)
    if (in_c) then
      error = c_barrier(c_comm(MPI_COMM_WORLD))
      error = c_bcast(values, 2, c_type(MPI_INTEGER), 0, c_comm(MPI_COMM_WORLD))
      error = c_allreduce(values, sums, 2, c_type(MPI_INTEGER), c_op(MPI_SUM), c_comm(MPI_COMM_WORLD))
    else
      call MPI_Barrier(MPI_COMM_WORLD, error)
      call MPI_Bcast(values, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
      call MPI_Allreduce(values, sums, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    end if
    if (any(values /= round) .or. any(sums /= round*ranks)) then
      print '(i0, ": wrong in round ", i0)', rank, round
      call MPI_Abort(MPI_COMM_WORLD, 1, error)
    end if
  end do
  call MPI_Finalize(error)
  print '(i0, ": done")', rank
end program
