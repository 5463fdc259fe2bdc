! SPDX-License-Identifier: Apache-2.0
! threadprivate common blocks and module variables: distinct copies, copyin, persistence, nested.
include '../support/check.inc'

module private_data
  implicit none
  integer, save :: counter = 7
  real(8), save, allocatable :: table(:)
  !$omp threadprivate(counter, table)
end module private_data

program fortran_threadprivate
  use check
  use omp_lib
  use private_data
  implicit none
  integer :: first, second(10), size, round
  common /block/ first, second
  !$omp threadprivate(/block/)

  call omp_set_dynamic(.false.)
  call omp_set_max_active_levels(4)
  do size = 1, 7, 3
    first = 100
    second = [(round, round = 1, 10)]
    !$omp parallel num_threads(size) copyin(/block/)
    call expect(first, 100, 'copyin of a common block')
    call expect(second(10), 10, 'copyin of an array in it')
    first = omp_get_thread_num()
    second = first
    !$omp barrier
    call expect(first, omp_get_thread_num(), 'distinct')
    call expect(sum(second), 10 * omp_get_thread_num(), 'distinct arrays')
    !$omp end parallel
    call expect(first, 0, 'the initial thread is member 0')

    !$omp parallel num_threads(size)
    counter = 10 * omp_get_thread_num()
    if (.not. allocated(table)) allocate (table(20))
    table = counter
    !$omp end parallel
    do round = 1, 5
      !$omp parallel num_threads(size)
      call expect(counter, 10 * omp_get_thread_num() + round - 1, 'persistence')
      call expect_true(all(table == dble(10 * omp_get_thread_num())), 'persistence of allocatables')
      counter = counter + 1
      call inner()
      !$omp end parallel
    end do
    !$omp parallel num_threads(size)
    deallocate (table)
    !$omp end parallel
  end do
  call finish()

contains

  ! The inner primary keeps the copy of the member that opened the region; the others have copies of their own.
  subroutine inner()
    integer :: mine, distinct
    mine = counter
    distinct = 0
    !$omp parallel num_threads(3) shared(mine, distinct)
    if (omp_get_thread_num() == 0) then
      call expect(counter, mine, 'inner primary')
    else
      counter = -omp_get_thread_num()
    end if
    !$omp barrier
    if (omp_get_thread_num() /= 0) call expect(counter, -omp_get_thread_num(), 'inner copies')
    !$omp atomic
    distinct = distinct + 1
    !$omp end parallel
    call expect(counter, mine, 'after the inner region')
    call expect(distinct, 3, 'inner members')
  end subroutine inner

end program fortran_threadprivate
