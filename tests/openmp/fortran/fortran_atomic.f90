! SPDX-License-Identifier: Apache-2.0
! atomic on every intrinsic type and kind; those that no instruction handles (complex, extended real, real(16)) go
! through the runtime.
include '../support/check.inc'

program fortran_atomic
  use check
  use omp_lib
  implicit none
  integer :: size

  call omp_set_max_active_levels(3)
  do size = 1, 10, 3
    call updates(size)
  end do
  !$omp parallel num_threads(3)
  call updates(4)
  !$omp end parallel
  call finish()

contains

  subroutine updates(threads)
    integer, intent(in) :: threads
    ! x87's, where there is one; else the next larger.
    integer, parameter :: extended = selected_real_kind(18)
    integer(1) :: i1
    integer(2) :: i2
    integer(4) :: i4, least, most, bits, old, taken
    integer(8) :: i8
    real(4) :: r4
    real(8) :: r8
    real(extended) :: r10
    real(16) :: r16
    complex(4) :: c4
    complex(8) :: c8
    logical :: all_true
    integer :: i
    i1 = 0; i2 = 0; i4 = 0; i8 = 0; r4 = 0; r8 = 0; r10 = 0; r16 = 0; c4 = 0; c8 = 0
    least = 1000; most = -1000; bits = 0; all_true = .true.; taken = 0
    !$omp parallel num_threads(threads) private(old, i)
    do i = 1, 10
      !$omp atomic
      i1 = i1 + 1_1
      !$omp atomic
      i2 = i2 + 1_2
      !$omp atomic
      i4 = i4 + 1
      !$omp atomic
      i8 = i8 + 1_8
      !$omp atomic
      r4 = r4 + 1.
      !$omp atomic
      r8 = r8 + 1d0
      !$omp atomic
      r10 = r10 + 1._extended
      !$omp atomic
      r16 = r16 + 1._16
      !$omp atomic
      c4 = c4 + (1., 2.)
      !$omp atomic
      c8 = c8 + (1d0, -2d0)
      !$omp atomic
      least = min(least, omp_get_thread_num())
      !$omp atomic
      most = max(most, omp_get_thread_num())
      !$omp atomic
      bits = ior(bits, ishft(1, mod(i, 7)))
      !$omp atomic
      all_true = all_true .and. i > 0
      !$omp atomic capture
      old = taken
      taken = taken + 1
      !$omp end atomic
      call expect_true(old < 10 * threads, 'capture')
    end do
    !$omp end parallel
    call expect(int(i1), 10 * threads, 'integer(1)')
    call expect(int(i2), 10 * threads, 'integer(2)')
    call expect(i4, 10 * threads, 'integer(4)')
    call expect(int(i8), 10 * threads, 'integer(8)')
    call expect(int(r4), 10 * threads, 'real(4)')
    call expect(int(r8), 10 * threads, 'real(8)')
    call expect(int(r10), 10 * threads, 'real(extended)')
    call expect(int(r16), 10 * threads, 'real(16)')
    call expect_true(c4 == cmplx(10 * threads, 20 * threads), 'complex(4)')
    call expect_true(c8 == cmplx(10 * threads, -20 * threads, 8), 'complex(8)')
    call expect(least, 0, 'min')
    call expect(most, threads - 1, 'max')
    call expect(bits, 127, 'ior')
    call expect_true(all_true, '.and.')
    call expect(taken, 10 * threads, 'capture: total')
  end subroutine updates

end program fortran_atomic
