! SPDX-License-Identifier: Apache-2.0
! Fault: none
! Regions within a region, all of the same size: together they fill the machine.
program clean_nested_fortran
  use busy
  use omp_lib
  implicit none
  integer, parameter :: rounds = 20
  real(real64) :: sum
  integer :: round, domain

  call calibrate()
  call omp_set_max_active_levels(2)
  sum = 0
  do round = 1, rounds
    !$omp parallel do schedule(static, 1) reduction(+:sum)
    do domain = 1, omp_get_max_threads()
      sum = sum + solve()
    end do
    !$omp end parallel do
  end do
  call print_checksum(sum)

contains

  real(real64) function solve()
    real(real64) :: found
    integer :: i, piece
    piece = steps_of(500.0_real64)
    found = 0
    !$omp parallel do schedule(dynamic) reduction(+:found)
    do i = 1, 200
      found = found + work(piece)
    end do
    !$omp end parallel do
    solve = found
  end function
end program
