! SPDX-License-Identifier: Apache-2.0
! The collectives by mpif.h.
      program main
      implicit none
      include 'mpif.h'
      integer rank, ranks, i, round, error
      double precision values(300), sums(300), gathered(2400)
      integer blocks(64)
      call MPI_INIT(error)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, error)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, error)
      do round = 1, 20
        do i = 1, 300
          values(i) = -1
          if (rank .eq. 1) values(i) = round * i
        end do
        call MPI_BCAST(values, 300, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, error)
        do i = 1, 300
          if (values(i) .ne. round * i) call fail(rank, 'bcast')
          values(i) = rank + i
        end do
        call MPI_ALLGATHER(values, 300, MPI_DOUBLE_PRECISION, gathered, 300, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, error)
        do i = 1, 300 * ranks
          if (gathered(i) .ne. (i - 1) / 300 + mod(i - 1, 300) + 1) call fail(rank, 'allgather')
        end do
        call MPI_REDUCE(values, sums, 300, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, error)
        if (rank .eq. 0 .and. sums(300) .ne. ranks + 299) call fail(rank, 'reduce')
        call MPI_ALLREDUCE(MPI_IN_PLACE, values, 300, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
        do i = 1, 300
          if (values(i) .ne. ranks * (ranks - 1) / 2 + ranks * i) call fail(rank, 'allreduce')
        end do
        do i = 1, ranks
          blocks(i) = 100 * rank + i - 1
        end do
        call MPI_ALLTOALL(MPI_IN_PLACE, 0, MPI_INTEGER, blocks, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
        do i = 1, ranks
          if (blocks(i) .ne. 100 * (i - 1) + rank) call fail(rank, 'alltoall')
        end do
        call MPI_BARRIER(MPI_COMM_WORLD, error)
      end do
      call MPI_FINALIZE(error)
      write (*, '(i0, a)') rank, ': done'
      end

      subroutine fail(rank, what)
      implicit none
      include 'mpif.h'
      integer rank, error
      character*(*) what
      write (*, '(i0, 2a)') rank, ': ', what
      call MPI_ABORT(MPI_COMM_WORLD, 1, error)
      end
