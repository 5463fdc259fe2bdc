! SPDX-License-Identifier: Apache-2.0
! The collectives by mpi_f08: MPI_IN_PLACE, sections of arrays with gaps, an operation of the user.
program main
  use mpi_f08
  implicit none
  integer :: rank, ranks, i, round
  integer :: values(4), sums(4), wide(8)
  integer, allocatable :: gathered(:), blocks(:)
  type(MPI_Op) :: op
  type(MPI_Datatype) :: every_other
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  allocate (gathered(4*ranks), blocks(ranks))
  call MPI_Type_vector(4, 1, 2, MPI_INTEGER, every_other)
  call MPI_Type_commit(every_other)
  call MPI_Op_create(greater, .true., op)
  do round = 1, 20
    values = -1
    if (rank == ranks - 1) values = [(round + i, i=1, 4)]
    call MPI_Bcast(values, 4, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD)
    call check(all(values == [(round + i, i=1, 4)]), 'bcast')
    wide = -1
    if (rank == 0) wide(1::2) = values
    call MPI_Bcast(wide, 1, every_other, 0, MPI_COMM_WORLD)
    call check(all(wide(1::2) == values) .and. all(wide(2::2) == -1), 'bcast with gaps')
    values = rank
    call MPI_Allreduce(MPI_IN_PLACE, values, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(values == ranks*(ranks - 1)/2), 'allreduce in place')
    values = rank
    call MPI_Reduce(values, sums, 4, MPI_INTEGER, op, 0, MPI_COMM_WORLD)
    if (rank == 0) call check(all(sums == ranks - 1), 'reduce by an operation of the user')
    call MPI_Allgather(values, 4, MPI_INTEGER, gathered, 4, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(gathered == [(i/4, i=0, 4*ranks - 1)]), 'allgather')
    blocks = [(100*rank + i, i=0, ranks - 1)]
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, blocks, 1, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(blocks == [(100*i + rank, i=0, ranks - 1)]), 'alltoall in place')
    call MPI_Barrier(MPI_COMM_WORLD)
  end do
  call MPI_Type_free(every_other)
  call MPI_Op_free(op)
  call MPI_Finalize()
  write (*, '(i0, a)') rank, ': done'
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    write (*, '(i0, 2a)') rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
  subroutine greater(in, inout, length, type)
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: in, inout
    integer :: length
    type(MPI_Datatype) :: type
    integer, pointer :: a(:), b(:)
    call c_f_pointer(in, a, [length])
    call c_f_pointer(inout, b, [length])
    b = max(a, b)
  end subroutine
end program
