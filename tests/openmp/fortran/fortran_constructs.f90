! SPDX-License-Identifier: Apache-2.0
! Worksharing and synchronisation constructs from Fortran, at level 1 and nested.
include '../support/check.inc'

program fortran_constructs
  use check
  use omp_lib
  implicit none
  integer :: size

  call omp_set_max_active_levels(4)
  do size = 1, 9, 2
    call everything(size)
  end do
  !$omp parallel num_threads(3)
  call everything(1)
  call everything(4)
  !$omp end parallel
  call finish()

contains

  subroutine everything(threads)
    integer, intent(in) :: threads
    call team(threads)
    call loops(threads)
    call reductions(threads)
    call others(threads)
    call shared_work(threads)
  end subroutine everything

  subroutine team(threads)
    integer, intent(in) :: threads
    integer :: seen(0:63), i
    seen = 0
    !$omp parallel num_threads(threads) default(none) shared(seen, threads)
    call expect(omp_get_num_threads(), threads, 'team: size')
    !$omp atomic
    seen(omp_get_thread_num()) = seen(omp_get_thread_num()) + 1
    !$omp end parallel
    do i = 0, threads - 1
      call expect(seen(i), 1, 'team: members')
    end do
    !$omp parallel num_threads(threads) if(.false.)
    call expect(omp_get_num_threads(), 1, 'team: if')
    !$omp end parallel
  end subroutine team

  subroutine loops(threads)
    integer, intent(in) :: threads
    integer :: times(7, 200), i, j, last
    integer(8) :: wide
    integer(2) :: narrow
    times = 0
    last = 0
    !$omp parallel num_threads(threads)
    !$omp do
    do i = 1, 200
      times(1, i) = times(1, i) + 1
    end do
    !$omp end do nowait
    !$omp do schedule(static, 3)
    do i = 200, 1, -1
      times(2, i) = times(2, i) + 1
    end do
    !$omp do schedule(dynamic)
    do wide = 1, 200
      times(3, wide) = times(3, wide) + 1
    end do
    !$omp do schedule(guided, 2) lastprivate(last)
    do i = 1, 399, 2
      times(4, (i + 1) / 2) = times(4, (i + 1) / 2) + 1
      last = i
    end do
    !$omp do schedule(runtime)
    do narrow = 1, 200
      times(5, narrow) = times(5, narrow) + 1
    end do
    !$omp do collapse(2) schedule(dynamic, 7)
    do i = 1, 20
      do j = 1, 10
        times(6, 10 * (i - 1) + j) = times(6, 10 * (i - 1) + j) + 1
      end do
    end do
    !$omp do schedule(auto)
    do i = 1, 0
      times(7, 1) = 99
    end do
    !$omp end parallel
    do j = 1, 6
      do i = 1, 200
        call expect(times(j, i), 1, 'loops: iterations')
      end do
    end do
    call expect(times(7, 1), 0, 'loops: empty')
    call expect(last, 399, 'loops: lastprivate')
  end subroutine loops

  subroutine reductions(threads)
    integer, intent(in) :: threads
    integer :: total, least, most, any_bits, all_bits, odd_bits, i, counts(10)
    logical :: every, some, same, differ
    real(8) :: sum8
    complex :: turned
    total = 5; least = 1000; most = -1000; any_bits = 0; all_bits = -1; odd_bits = 0; counts = 0
    every = .true.; some = .false.; same = .true.; differ = .false.
    sum8 = 0; turned = (0., 0.)
    !$omp parallel do num_threads(threads) reduction(+: total, sum8, turned, counts) reduction(min: least) &
    !$omp& reduction(max: most) reduction(ior: any_bits) reduction(iand: all_bits) reduction(ieor: odd_bits) &
    !$omp& reduction(.and.: every) reduction(.or.: some) reduction(.eqv.: same) reduction(.neqv.: differ)
    do i = 1, 30
      total = total + i
      least = min(least, 7 * mod(i, 11) - 3)
      most = max(most, 7 * mod(i, 11) - 3)
      any_bits = ior(any_bits, ishft(1, mod(i, 5)))
      all_bits = iand(all_bits, not(ishft(1, mod(i, 3))))
      odd_bits = ieor(odd_bits, ishft(1, mod(i, 4)))
      every = every .and. i > 0
      some = some .or. i == 17
      same = same .eqv. i > 3
      differ = differ .neqv. i > 3
      sum8 = sum8 + 0.5d0
      turned = turned + (1., -2.)
      counts(1 + mod(i, 10)) = counts(1 + mod(i, 10)) + 1
    end do
    call expect(total, 470, 'reductions: +')
    call expect(least, -3, 'reductions: min')
    call expect(most, 67, 'reductions: max')
    call expect(any_bits, 31, 'reductions: ior')
    call expect(all_bits, not(7), 'reductions: iand')
    call expect(odd_bits, 9, 'reductions: ieor')
    call expect_true(every .and. some, 'reductions: .and. and .or.')
    call expect_true(.not. same, 'reductions: .eqv.')
    call expect_true(differ, 'reductions: .neqv.')
    call expect_true(sum8 == 15d0, 'reductions: real')
    call expect_true(turned == (30., -60.), 'reductions: complex')
    do i = 1, 10
      call expect(counts(i), 3, 'reductions: array')
    end do
  end subroutine reductions

  subroutine others(threads)
    integer, intent(in) :: threads
    integer :: singles, sections_done(3), masters, inside, copied, me
    real :: vector(5)
    singles = 0; sections_done = 0; masters = 0; inside = 0
    !$omp parallel num_threads(threads) private(copied, vector, me)
    me = omp_get_thread_num()
    copied = -me
    vector = -1.
    !$omp single
    singles = singles + 1
    copied = 12
    vector = 3.5
    !$omp end single copyprivate(copied, vector)
    call expect(copied, 12, 'others: copyprivate')
    call expect_true(all(vector == 3.5), 'others: copyprivate of an array')
    !$omp sections
    !$omp section
    sections_done(1) = sections_done(1) + 1
    !$omp section
    sections_done(2) = sections_done(2) + 1
    !$omp section
    sections_done(3) = sections_done(3) + 1
    !$omp end sections
    call expect(sum(sections_done), 3, 'others: sections')
    !$omp master
    masters = masters + 1
    !$omp end master
    !$omp masked
    masters = masters + 1
    !$omp end masked
    !$omp critical (others_section)
    inside = inside + 1
    !$omp end critical (others_section)
    !$omp barrier
    call expect(inside, threads, 'others: critical')
    !$omp end parallel
    call expect(singles, 1, 'others: single')
    call expect(masters, 2, 'others: master')
  end subroutine others

  subroutine shared_work(threads)
    integer, intent(in) :: threads
    integer :: i
    real(8) :: a(100), b(100), total
    a = [(dble(i), i = 1, 100)]
    b = 0
    total = 0
    !$omp parallel num_threads(threads)
    !$omp workshare
    b = 2 * a
    where (b > 100d0) b = 0
    total = sum(b)
    !$omp end workshare
    !$omp end parallel
    call expect_true(total == 2d0 * 50 * 51 / 2, 'shared_work: workshare')
  end subroutine shared_work

end program fortran_constructs
