! SPDX-License-Identifier: Apache-2.0
! Target regions from Fortran, on the host: arrays with descriptors, allocatables, private copies, tasks, leagues.
include '../support/check.inc'

program fortran_target
  use check
  use omp_lib
  implicit none
  integer :: size

  call omp_set_max_active_levels(4)
  do size = 1, 7, 3
    call everything(size)
  end do
  !$omp parallel num_threads(3)
  call everything(2)
  !$omp end parallel
  call finish()

contains

  subroutine everything(threads)
    integer, intent(in) :: threads
    integer, parameter :: n = 60
    integer :: fixed(n), kept, i
    integer :: given(n)
    given = 0
    call mapped(given(1:n:2), threads)
    call expect(sum(given(1:n:2)), n/2*threads, 'a section with a stride')
    call expect(sum(given(2:n:2)), 0, 'what lies between')
    call allocatables(threads)
    call tasks(threads)

    fixed = [(i, i = 1, n)]
    kept = 5
    !$omp target map(tofrom: fixed) firstprivate(kept)
    fixed = fixed + kept
    kept = 0
    !$omp end target
    call expect(sum(fixed), n*(n + 1)/2 + 5*n, 'an array')
    call expect(kept, 5, 'a private copy')
    !$omp target teams distribute parallel do map(tofrom: fixed) num_teams(3) num_threads(threads)
    do i = 1, n
      fixed(i) = i
    end do
    call expect(sum(fixed), n*(n + 1)/2, 'a league')
    !$omp target data map(to: fixed) use_device_addr(fixed)
    !$omp target update to(fixed(1:3))
    fixed(1) = 100
    !$omp end target data
    call expect(fixed(1), 100, 'target data')
  end subroutine everything

  subroutine mapped(section, add)
    integer, intent(inout) :: section(:)
    integer, intent(in) :: add
    !$omp target map(tofrom: section)
    section = section + add
    !$omp end target
  end subroutine mapped

  subroutine allocatables(threads)
    integer, intent(in) :: threads
    real, allocatable :: a(:), none(:)
    real, pointer :: p(:, :)
    character(len=threads) :: text
    integer :: total
    allocate (a(10:29), p(3, 4))
    a = 1
    p = 2
    text = repeat('x', threads)
    total = 0
    !$omp target enter data map(to: a)
    !$omp target map(tofrom: a, p, total) firstprivate(text, none)
    if (lbound(a, 1) == 10 .and. .not. allocated(none)) total = len(text)
    a = a + p(2, 3)
    p(1, 1) = 7
    text = ''
    !$omp end target
    !$omp target exit data map(from: a)
    call expect(total, threads, 'what a region sees of its arguments')
    call expect(nint(sum(a)), 60, 'an allocatable array')
    call expect(nint(p(1, 1)), 7, 'a pointer')
    call expect_true(text == repeat('x', threads), 'a private text')
    deallocate (p)
  end subroutine allocatables

  subroutine tasks(threads)
    integer, intent(in) :: threads
    integer :: i, part(4), at(20), x
    x = 0
    !$omp parallel num_threads(threads)
    !$omp single
    do i = 1, 20
      part = i
      !$omp target firstprivate(part, i) map(from: at(i)) nowait
      at(i) = sum(part) + i
      !$omp end target
    end do
    part = -1
    !$omp target map(tofrom: x) depend(out: x) nowait
    x = 1
    !$omp end target
    !$omp target map(tofrom: x) depend(inout: x) nowait
    x = 10*x + 2
    !$omp end target
    !$omp taskwait
    !$omp end single
    !$omp end parallel
    call expect(sum(at), 5*210, 'tasks of regions')
    call expect(x, 12, 'regions in order')
  end subroutine tasks
end program fortran_target
