! SPDX-License-Identifier: Apache-2.0
! Private allocatable arrays, derived types with allocatable parts, and a user-defined reduction over them.
include '../support/check.inc'

module histograms
  implicit none
  type :: histogram
    integer, allocatable :: counts(:)
    integer :: entries = 0
  end type histogram
contains
  pure function joined(a, b) result(both)
    type(histogram), intent(in) :: a, b
    type(histogram) :: both
    both%entries = a%entries + b%entries
    if (allocated(a%counts) .and. allocated(b%counts)) then
      both%counts = a%counts + b%counts
    else if (allocated(a%counts)) then
      both%counts = a%counts
    else if (allocated(b%counts)) then
      both%counts = b%counts
    end if
  end function joined
end module histograms

program fortran_allocatable
  use check
  use omp_lib
  implicit none
  integer :: size

  call omp_set_max_active_levels(3)
  do size = 1, 7, 3
    call everything(size)
  end do
  !$omp parallel num_threads(3)
  call everything(4)
  !$omp end parallel
  call finish()

contains

  subroutine everything(threads)
    use histograms
    integer, intent(in) :: threads
    real, allocatable :: work(:), sums(:)
    type(histogram) :: all_of_it
    integer :: i
    !$omp declare reduction(join: histogram: omp_out = joined(omp_out, omp_in)) initializer(omp_priv = histogram())
    allocate (work(50), sums(10))
    work = 2.
    sums = 0.
    !$omp parallel num_threads(threads) firstprivate(work) reduction(+: sums)
    call expect_true(all(work == 2.), 'firstprivate')
    work = work + omp_get_thread_num()
    !$omp barrier
    call expect_true(all(work == 2. + omp_get_thread_num()), 'private copies')
    sums = sums + 1.
    !$omp end parallel
    call expect_true(all(work == 2.), 'original')
    call expect_true(all(sums == real(threads)), 'reduction of an allocatable')

    !$omp parallel do num_threads(threads) reduction(join: all_of_it)
    do i = 1, 60
      if (.not. allocated(all_of_it%counts)) then
        allocate (all_of_it%counts(6))
        all_of_it%counts = 0
      end if
      all_of_it%counts(1 + mod(i, 6)) = all_of_it%counts(1 + mod(i, 6)) + 1
      all_of_it%entries = all_of_it%entries + 1
    end do
    call expect(all_of_it%entries, 60, 'user-defined reduction')
    call expect_true(all(all_of_it%counts == 10), 'user-defined reduction: parts')
  end subroutine everything

end program fortran_allocatable
