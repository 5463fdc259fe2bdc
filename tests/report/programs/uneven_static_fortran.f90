! SPDX-License-Identifier: Apache-2.0
! Fault: uneven_static
! A triangle: column i has i rows, and each thread gets as many columns as the others.
program uneven_static_fortran
  use busy
  use omp_lib
  implicit none
  integer, parameter :: rounds = 14, columns = 400
  real(real64) :: unit, sum
  integer :: round, i

  call calibrate()
  unit = 100e3_real64 * omp_get_max_threads() / (0.5_real64 * columns * (columns + 1))
  sum = 0
  do round = 1, rounds
#ifdef FIXED
    !$omp parallel do schedule(dynamic, 2) reduction(+:sum)
#else
    !$omp parallel do reduction(+:sum)  ! PLANTED
#endif
    do i = 1, columns
      sum = sum + work(steps_of(unit * i))
    end do
    !$omp end parallel do
  end do
  call print_checksum(sum)
end program
