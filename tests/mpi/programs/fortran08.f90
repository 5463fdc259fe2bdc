! SPDX-License-Identifier: Apache-2.0
! The procedures of mpi_f08. Lines are the same with weft's MPI library and without.
program fortran08
  use mpi_f08
  implicit none
  integer :: me, n, peer, i, got, provided, place, numbers(8), more(8), total, error
  type(MPI_Status) :: status, statuses(4)
  type(MPI_Request) :: requests(4)
  type(MPI_Comm) :: duplicate, half, both, merged
  logical :: flag
  call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  peer = ieor(me, 1)
  numbers = [(100 * me + i, i = 1, 8)]
  more = -1
  print '(i0,a,1x,l1)', me, ': provided', provided >= MPI_THREAD_SERIALIZED

  if (mod(me, 2) == 0) then
    call MPI_Recv(more, 8, MPI_INTEGER, peer, MPI_ANY_TAG, MPI_COMM_WORLD, status)
    call MPI_Get_count(status, MPI_INTEGER, got)
    print '(i0,a,4(1x,i0))', me, ': recv', more(1), status%MPI_SOURCE, status%MPI_TAG, got
    call MPI_Ssend(numbers, 3, MPI_INTEGER, peer, 2, MPI_COMM_WORLD)
  else
    call wait_a_little()
    call MPI_Send(numbers, 5, MPI_INTEGER, peer, 1, MPI_COMM_WORLD, error)
    call MPI_Recv(more, 8, MPI_INTEGER, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    print '(i0,a,2(1x,i0))', me, ': recv', more(3), error
  end if

  do i = 1, 4
    call MPI_Irecv(more(i), 1, MPI_INTEGER, peer, 10 + i, MPI_COMM_WORLD, requests(i))
  end do
  if (mod(me, 2) == 1) call wait_a_little()
  do i = 4, 1, -1
    call MPI_Send(numbers(i), 1, MPI_INTEGER, peer, 10 + i, MPI_COMM_WORLD)
  end do
  call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
  call MPI_Waitall(4, requests, statuses)
  print '(i0,a,3(1x,i0))', me, ': waitall', more(1), statuses(1)%MPI_TAG, statuses(4)%MPI_TAG
  call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
  call MPI_Waitany(4, requests, place, status)
  print '(i0,a,1x,l1)', me, ': none left', place == MPI_UNDEFINED

  call MPI_Irecv(more, 1, MPI_INTEGER, peer, 30, MPI_COMM_WORLD, requests(1))
  call MPI_Send(numbers, 1, MPI_INTEGER, peer, 30, MPI_COMM_WORLD)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(requests(1), flag, status)
  end do
  print '(i0,a,1x,i0)', me, ': test', status%MPI_TAG

  call MPI_Sendrecv(numbers, 2, MPI_INTEGER, peer, 3, more, 8, MPI_INTEGER, peer, 3, MPI_COMM_WORLD, status)
  print '(i0,a,2(1x,i0))', me, ': sendrecv', more(1), status%MPI_TAG
  if (mod(me, 2) == 1) call wait_a_little()
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Allreduce(MPI_IN_PLACE, numbers, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Bcast(numbers, 8, MPI_INTEGER, n - 1, MPI_COMM_WORLD)
  print '(i0,a,2(1x,i0))', me, ': bcast', numbers(1), numbers(8)
  call MPI_Comm_dup(MPI_COMM_WORLD, duplicate)
  call MPI_Allreduce(me, total, 1, MPI_INTEGER, MPI_SUM, duplicate)
  print '(i0,a,1x,i0)', me, ': sum', total
  call MPI_Comm_split(duplicate, mod(me, 2), me, half)
  call MPI_Intercomm_create(half, 0, duplicate, 1 - mod(me, 2), 4, both)
  if (mod(me, 2) == 1) call wait_a_little()
  call MPI_Allreduce(me, total, 1, MPI_INTEGER, MPI_SUM, both)
  print '(i0,a,1x,i0)', me, ': sum of the others', total
  call MPI_Intercomm_merge(both, mod(me, 2) == 1, merged)
  call MPI_Comm_rank(merged, place)
  call MPI_Allreduce(me, total, 1, MPI_INTEGER, MPI_SUM, merged)
  print '(i0,a,2(1x,i0))', me, ': merged', place, total
  call MPI_Comm_free(merged)
  call MPI_Comm_free(both)
  call MPI_Comm_free(half)
  call MPI_Comm_free(duplicate)
  call MPI_Finalize()
contains
  subroutine wait_a_little()
    integer :: before, now, rate
    call system_clock(before, rate)
    now = before
    do while (now - before < rate / 100)
      call system_clock(now)
    end do
  end subroutine
end program
