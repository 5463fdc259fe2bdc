! SPDX-License-Identifier: Apache-2.0
! Fault: none
! Sums by reduction clauses, in regions of some milliseconds.
program clean_reduction_fortran
  use busy
  use omp_lib
  implicit none
  integer, parameter :: rounds = 400, iterations = 2000
  real(real64) :: sums(8), largest
  integer :: round, i, piece

  call calibrate()
  piece = steps_of(2.5_real64 * omp_get_max_threads())
  sums = 0
  largest = 0
  do round = 1, rounds
    !$omp parallel do schedule(static) reduction(+:sums) reduction(max:largest)
    do i = 1, iterations
      sums(1 + mod(i, 8)) = sums(1 + mod(i, 8)) + work(piece)
      largest = max(largest, sums(1))
    end do
    !$omp end parallel do
  end do
  call print_checksum(sum(sums))
end program
