! SPDX-License-Identifier: Apache-2.0
! Fault: critical
! A sum by a named critical region, and too much within it.
program critical_fortran
  use busy
  use omp_lib
  implicit none
  integer :: i, iterations, before, inside
  real(real64) :: total, part

  call calibrate()
  before = steps_of(20.0_real64)
  inside = steps_of(40.0_real64)
  iterations = 60000 * omp_get_max_threads() / 2
  total = 0
#ifdef FIXED
  !$omp parallel do schedule(static, 8) private(part) reduction(+:total)
  do i = 1, iterations
    part = work(before)
    total = total + part + work(inside)
  end do
  !$omp end parallel do
#else
  !$omp parallel do schedule(static, 8) private(part) shared(total)
  do i = 1, iterations
    part = work(before)
    !$omp critical (adding)  ! PLANTED
    total = total + part + work(inside)
    !$omp end critical (adding)
  end do
  !$omp end parallel do
#endif
  call print_checksum(total)
end program
