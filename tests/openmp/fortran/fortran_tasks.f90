! SPDX-License-Identifier: Apache-2.0
! Explicit tasks from Fortran: recursion, data clauses with allocatables, taskgroup, if, final, detach.
include '../support/check.inc'

program fortran_tasks
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
    integer, intent(in) :: threads
    integer :: result, done, i
    real, allocatable :: work(:)
    result = 0
    done = 0
    !$omp parallel num_threads(threads) private(work, i)
    !$omp single
    result = fib(12)
    do i = 1, 20
      allocate (work(100))
      work = i
      !$omp task firstprivate(work, i) shared(done)
      call expect_true(all(work == real(i)), 'firstprivate allocatable')
      !$omp atomic
      done = done + 1
      !$omp end task
      deallocate (work)
    end do
    !$omp taskwait
    call expect(done, 20, 'taskwait')
    !$omp taskgroup
    do i = 1, 10
      !$omp task shared(done)
      !$omp task shared(done)
      !$omp atomic
      done = done + 1
      !$omp end task
      !$omp end task
    end do
    !$omp end taskgroup
    call expect(done, 30, 'taskgroup')
    !$omp task if(.false.) shared(done)
    done = done + 1
    !$omp end task
    call expect(done, 31, 'undeferred')
    !$omp task final(.true.)
    call expect_true(omp_in_final(), 'final')
    !$omp end task
    !$omp end single
    !$omp end parallel
    call expect(result, 144, 'fib')
    call events(threads)
  end subroutine everything

  ! A task that ends when another fulfils its event.
  subroutine events(threads)
    integer, intent(in) :: threads
    integer(omp_event_handle_kind) :: event
    integer :: before, after
    before = 0
    after = 0
    !$omp parallel num_threads(threads)
    !$omp single
    !$omp task detach(event) depend(out: before) shared(before)
    before = 1
    !$omp end task
    !$omp task shared(after) firstprivate(event)
    after = 1
    call omp_fulfill_event(event)
    !$omp end task
    !$omp task depend(in: before) shared(before, after)
    call expect(before + after, 2, 'detach')
    !$omp end task
    !$omp end single
    !$omp end parallel
  end subroutine events

  recursive integer function fib(n) result(value)
    integer, intent(in) :: n
    integer :: a, b
    if (n < 2) then
      value = n
      return
    end if
    !$omp task shared(a)
    a = fib(n - 1)
    !$omp end task
    !$omp task shared(b)
    b = fib(n - 2)
    !$omp end task
    !$omp taskwait
    value = a + b
  end function fib

end program fortran_tasks
