! SPDX-License-Identifier: Apache-2.0
! What Fortran alone has: workshare, common blocks that are threadprivate, allocatable private variables, do concurrent.
include '../support/check.inc'

program fortran_workshare
  use check
  use omp_lib
  implicit none
  integer :: size

  call omp_set_max_active_levels(4)
  call omp_set_dynamic(.false.)
  do size = 1, 7, 2
    call arrays(size)
    call common_blocks(size)
    call allocatables(size)
    call concurrent(size)
    call atomics(size)
  end do
  !$omp parallel num_threads(2)
  call arrays(3)
  call common_blocks(2)
  call allocatables(3)
  call atomics(4)
  !$omp end parallel
  call finish()

contains

  subroutine arrays(threads)
    integer, intent(in) :: threads
    integer, parameter :: n = 100
    integer :: a(n), b(n), total, i
    b = [(i, i = 1, n)]
    a = 0
    total = 0
    !$omp parallel num_threads(threads) shared(a, b, total)
    !$omp workshare
    a = 2*b
    where (a > 100) a = a + 1
    total = sum(a)
    !$omp end workshare
    !$omp workshare
    forall (i = 1:n) b(i) = a(n + 1 - i)
    !$omp end workshare nowait
    !$omp end parallel
    call expect(total, n*(n + 1) + 50, 'a sum in workshare')
    call expect(b(1), 201, 'forall in workshare')
    call expect(b(n), 2, 'forall in workshare, at the end')
  end subroutine arrays

  subroutine common_blocks(threads)
    integer, intent(in) :: threads
    integer :: wrong, kept
    real :: common_values(4)
    common /block/ kept, common_values
    !$omp threadprivate(/block/)
    kept = 99
    common_values = 0.5
    wrong = 0
    !$omp parallel num_threads(threads) copyin(/block/) reduction(+: wrong)
    if (kept /= 99 .or. common_values(4) /= 0.5) wrong = wrong + 1
    kept = omp_get_thread_num()
    common_values(2) = real(kept)
    !$omp barrier
    if (kept /= omp_get_thread_num()) wrong = wrong + 1
    if (nint(common_values(2)) /= omp_get_thread_num()) wrong = wrong + 1
    !$omp end parallel
    call expect(wrong, 0, 'copies of a common block')
  end subroutine common_blocks

  subroutine allocatables(threads)
    integer, intent(in) :: threads
    integer, allocatable :: mine(:), first(:)
    integer :: wrong
    allocate (first(3))
    first = 7
    wrong = 0
    !$omp parallel num_threads(threads) private(mine) firstprivate(first) reduction(+: wrong)
    if (allocated(mine)) wrong = wrong + 1
    allocate (mine(omp_get_thread_num() + 1))
    mine = omp_get_thread_num()
    first(2) = omp_get_thread_num()
    !$omp barrier
    if (sum(mine) /= omp_get_thread_num()*(omp_get_thread_num() + 1)) wrong = wrong + 1
    if (sum(first) /= 14 + omp_get_thread_num()) wrong = wrong + 1
    deallocate (mine)
    !$omp end parallel
    call expect(wrong, 0, 'allocatable private variables')
    call expect(sum(first), 21, 'an allocatable variable outside')
  end subroutine allocatables

  subroutine concurrent(threads)
    integer, intent(in) :: threads
    integer :: a(50), k
    a = 0
    !$omp parallel do num_threads(threads)
    do k = 0, 4
      call add_numbers(a(10*k + 1:10*k + 10))
    end do
    call expect(sum(a), 275, 'do concurrent in a loop')
  end subroutine concurrent

  ! Apart, since flang 19 does not compile it inside a construct.
  subroutine add_numbers(part)
    integer, intent(inout) :: part(10)
    integer :: i
    do concurrent (i = 1:10)
      part(i) = part(i) + i
    end do
  end subroutine add_numbers

  subroutine atomics(threads)
    integer, intent(in) :: threads
    integer :: i, count, seen
    real(8) :: total
    logical :: all_true
    count = 0
    total = 0
    all_true = .true.
    !$omp parallel do num_threads(threads) private(seen) schedule(dynamic, 3)
    do i = 1, 200
      !$omp atomic
      total = total + 0.5d0
      !$omp atomic capture
      count = count + 1
      seen = count
      !$omp end atomic
      if (seen < 1 .or. seen > 200) then
        !$omp critical
        all_true = .false.
        !$omp end critical
      end if
    end do
    call expect(count, 200, 'a captured counter')
    call expect(nint(total), 100, 'a real sum')
    call expect_true(all_true, 'what was captured is in range')
  end subroutine atomics
end program fortran_workshare
