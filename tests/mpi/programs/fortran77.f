! SPDX-License-Identifier: Apache-2.0
! The routines of mpif.h. Lines are the same with weft's MPI library and without.
      program fortran77
      implicit none
      include 'mpif.h'
      integer ierr, me, n, peer, i, flag_count, place
      integer status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 4)
      integer requests(4), numbers(8), more(8), places(4), total
      integer duplicate, half, got
      logical flag
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, me, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, n, ierr)
      peer = ieor(me, 1)
      do i = 1, 8
        numbers(i) = 100 * me + i
        more(i) = -1
      end do

      if (mod(me, 2) .eq. 0) then
        call MPI_RECV(more, 8, MPI_INTEGER, peer, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierr)
        call MPI_GET_COUNT(status, MPI_INTEGER, got, ierr)
        print '(i0,a,5(1x,i0))', me, ': recv', more(1), status(MPI_SOURCE), status(MPI_TAG), got, ierr
        call MPI_SSEND(numbers, 3, MPI_INTEGER, peer, 2, MPI_COMM_WORLD, ierr)
      else
        call sleep_a_little()
        call MPI_SEND(numbers, 5, MPI_INTEGER, peer, 1, MPI_COMM_WORLD, ierr)
        call MPI_PROBE(peer, 2, MPI_COMM_WORLD, status, ierr)
        call MPI_RECV(more, 8, MPI_INTEGER, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        print '(i0,a,4(1x,i0))', me, ': probed', more(3), status(MPI_SOURCE), status(MPI_TAG), ierr
      end if

      call MPI_SENDRECV(numbers, 2, MPI_INTEGER, peer, 3, more, 8, MPI_INTEGER, peer, 3, MPI_COMM_WORLD, status, ierr)
      print '(i0,a,3(1x,i0))', me, ': sendrecv', more(1), status(MPI_TAG), ierr
      call MPI_SENDRECV_REPLACE(numbers, 8, MPI_INTEGER, peer, 4, peer, 4, MPI_COMM_WORLD, status, ierr)
      print '(i0,a,2(1x,i0))', me, ': replace', numbers(8), ierr

      do i = 1, 4
        call MPI_IRECV(more(i), 1, MPI_INTEGER, peer, 10 + i, MPI_COMM_WORLD, requests(i), ierr)
      end do
      if (mod(me, 2) .eq. 1) call sleep_a_little()
      do i = 4, 1, -1
        call MPI_SEND(numbers(i), 1, MPI_INTEGER, peer, 10 + i, MPI_COMM_WORLD, ierr)
      end do
      call MPI_WAIT(requests(2), status, ierr)
      print '(i0,a,3(1x,i0))', me, ': wait', more(2), status(MPI_TAG), ierr
      requests(2) = MPI_REQUEST_NULL
      call MPI_WAITALL(4, requests, statuses, ierr)
      print '(i0,a,5(1x,i0))', me, ': waitall', more(1), statuses(MPI_TAG, 1), statuses(MPI_TAG, 4), requests(1), ierr

      do i = 1, 3
        call MPI_IRECV(more(i), 1, MPI_INTEGER, peer, 20, MPI_COMM_WORLD, requests(i), ierr)
      end do
      if (mod(me, 2) .eq. 1) call sleep_a_little()
      do i = 1, 3
        call MPI_SEND(numbers(i), 1, MPI_INTEGER, peer, 20, MPI_COMM_WORLD, ierr)
      end do
      call MPI_WAITANY(3, requests, place, status, ierr)
      print '(i0,a,3(1x,i0))', me, ': waitany', place, status(MPI_TAG), ierr
      total = 0
      do while (total .lt. 2)
        call MPI_WAITSOME(3, requests, flag_count, places, MPI_STATUSES_IGNORE, ierr)
        total = total + flag_count
      end do
      print '(i0,a,2(1x,i0))', me, ': waitsome', total, ierr
      call MPI_WAITANY(3, requests, place, status, ierr)
      print '(i0,a,1x,l1)', me, ': none left', place .eq. MPI_UNDEFINED

      call MPI_IRECV(more, 1, MPI_INTEGER, peer, 30, MPI_COMM_WORLD, requests(1), ierr)
      if (mod(me, 2) .eq. 1) call sleep_a_little()
      call MPI_ISEND(numbers, 1, MPI_INTEGER, peer, 30, MPI_COMM_WORLD, requests(2), ierr)
      flag = .false.
      do while (.not. flag)
        call MPI_TEST(requests(1), flag, status, ierr)
      end do
      flag = .false.
      do while (.not. flag)
        call MPI_TESTALL(2, requests, flag, MPI_STATUSES_IGNORE, ierr)
      end do
      print '(i0,a,1x,i0,1x,l1)', me, ': test', status(MPI_TAG), flag

      if (mod(me, 2) .eq. 1) call sleep_a_little()
      call MPI_BARRIER(MPI_COMM_WORLD, ierr)
      call MPI_ALLREDUCE(MPI_IN_PLACE, numbers, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
      print '(i0,a,2(1x,i0))', me, ': allreduce', numbers(1), ierr
      call MPI_BCAST(numbers, 8, MPI_INTEGER, n - 1, MPI_COMM_WORLD, ierr)
      print '(i0,a,2(1x,i0))', me, ': bcast', numbers(8), ierr
      call MPI_REDUCE(numbers, more, 2, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
      call MPI_ALLGATHER(me, 1, MPI_INTEGER, more, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
      print '(i0,a,2(1x,i0))', me, ': allgather', more(n), ierr
      call MPI_COMM_DUP(MPI_COMM_WORLD, duplicate, ierr)
      call MPI_COMM_SPLIT(duplicate, mod(me, 2), me, half, ierr)
      call MPI_ALLREDUCE(me, total, 1, MPI_INTEGER, MPI_SUM, half, ierr)
      print '(i0,a,2(1x,i0))', me, ': split', total, ierr
      call MPI_COMM_FREE(half, ierr)

      call MPI_COMM_SET_ERRHANDLER(duplicate, MPI_ERRORS_RETURN, ierr)
      if (mod(me, 2) .eq. 0) then
        call MPI_RECV(more, 1, MPI_INTEGER, peer, 40, duplicate, status, ierr)
        print '(i0,a,1x,l1)', me, ': truncated', ierr .ne. MPI_SUCCESS
      else
        call sleep_a_little()
        call MPI_SEND(numbers, 4, MPI_INTEGER, peer, 40, duplicate, ierr)
      end if
      call MPI_FINALIZE(ierr)
      end

      subroutine sleep_a_little()
      integer i, before, after, rate
      call system_clock(before, rate)
      after = before
      do while (after - before .lt. rate / 100)
        call system_clock(after)
      end do
      end
