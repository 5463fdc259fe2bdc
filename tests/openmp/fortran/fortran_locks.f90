! SPDX-License-Identifier: Apache-2.0
! Locks through omp_lib: simple and nestable, test, in arrays.
include '../support/check.inc'

program fortran_locks
  use check
  use omp_lib
  implicit none
  integer :: size

  call omp_set_max_active_levels(3)
  do size = 1, 10, 3
    call simple(size)
    call nestable(size)
  end do
  !$omp parallel num_threads(3)
  call simple(4)
  call nestable(4)
  !$omp end parallel
  call finish()

contains

  subroutine simple(threads)
    integer, intent(in) :: threads
    integer(omp_lock_kind) :: lock(20)
    integer :: counts(20), i, mine
    counts = 0
    do i = 1, 20
      call omp_init_lock(lock(i))
    end do
    !$omp parallel num_threads(threads) private(i, mine)
    do i = 1, 100
      mine = 1 + mod(7 * i + omp_get_thread_num(), 20)
      if (mod(i, 2) == 0) then
        call omp_set_lock(lock(mine))
      else
        do while (.not. omp_test_lock(lock(mine)))
        end do
      end if
      counts(mine) = counts(mine) + 1
      call omp_unset_lock(lock(mine))
    end do
    !$omp end parallel
    do i = 1, 20
      call omp_destroy_lock(lock(i))
    end do
    call expect(sum(counts), 100 * threads, 'simple lock')
  end subroutine simple

  subroutine nestable(threads)
    integer, intent(in) :: threads
    integer(omp_nest_lock_kind) :: lock
    integer :: before, total, depth, i
    before = 4711
    total = 0
    call omp_init_nest_lock(lock)
    !$omp parallel num_threads(threads) private(depth, i)
    do i = 1, 20
      call omp_set_nest_lock(lock)
      depth = omp_test_nest_lock(lock)
      call expect(depth, 2, 'nest lock count')
      total = total + 1
      call omp_unset_nest_lock(lock)
      call omp_unset_nest_lock(lock)
    end do
    !$omp end parallel
    call omp_destroy_nest_lock(lock)
    call expect(total, 20 * threads, 'nest lock')
    call expect(before, 4711, 'neighbour')
  end subroutine nestable

end program fortran_locks
