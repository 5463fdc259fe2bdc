! SPDX-License-Identifier: Apache-2.0
! Fault: nested_serial
! Two domains of different size, one for each thread of the outer region. The larger one would use the other thread by
! its inner region, but a routine allows one active level only.
program nested_serial_fortran
  use busy
  use omp_lib
  implicit none
  integer, parameter :: rounds = 30
  real(real64) :: sum
  integer :: round, domain

  call calibrate()
#ifdef FIXED
  call omp_set_max_active_levels(2)
#else
  call omp_set_max_active_levels(1)
#endif
  sum = 0
  do round = 1, rounds
    !$omp parallel do num_threads(2) schedule(static, 1) reduction(+:sum)
    do domain = 1, 2
      sum = sum + solve(merge(180, 20, domain == 1))
    end do
    !$omp end parallel do
  end do
  call print_checksum(sum)

contains

  real(real64) function solve(pieces)
    integer, intent(in) :: pieces
    real(real64) :: found
    integer :: i, piece
    piece = steps_of(400.0_real64)
    found = 0
    !$omp parallel do schedule(dynamic) reduction(+:found)  ! PLANTED
    do i = 1, pieces
      found = found + work(piece)
    end do
    !$omp end parallel do
    solve = found
  end function
end program
