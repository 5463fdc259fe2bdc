! SPDX-License-Identifier: Apache-2.0
! Fault: small_chunks
! Each iteration is a chunk: dynamic without a number.
program small_chunks_fortran
  use busy
  use omp_lib
  implicit none
  integer, parameter :: rounds = 20
  real(real64) :: sum
  integer :: round, i, iterations, piece

  call calibrate()
  piece = steps_of(0.02_real64)
  iterations = 1500000 * omp_get_max_threads()
  sum = 0
  do round = 1, rounds
#ifdef FIXED
    !$omp parallel do schedule(dynamic, 512) reduction(+:sum)
#else
    !$omp parallel do schedule(dynamic) reduction(+:sum)
#endif
    do i = 1, iterations  ! PLANTED
      sum = sum + work(piece)
    end do
    !$omp end parallel do
  end do
  call print_checksum(sum)
end program
