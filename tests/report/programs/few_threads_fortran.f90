! SPDX-License-Identifier: Apache-2.0
! Fault: few_threads
! A routine leaves half of the CPUs without work in all regions that follow.
program few_threads_fortran
  use busy
  use omp_lib
  implicit none
  integer, parameter :: rounds = 20, pieces = 200
  real(real64) :: sum
  integer :: round, i, threads, piece

  call calibrate()
  threads = (omp_get_num_procs() + 1) / 2
  piece = steps_of(120e3_real64 * threads / pieces)
#ifndef FIXED
  call omp_set_num_threads(threads)
#endif
  sum = 0
  do round = 1, rounds
    !$omp parallel do schedule(dynamic) reduction(+:sum)  ! PLANTED
    do i = 1, pieces
      sum = sum + work(piece)
    end do
    !$omp end parallel do
  end do
  call print_checksum(sum)
end program
