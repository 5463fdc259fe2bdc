! SPDX-License-Identifier: Apache-2.0
! Fault: serial_part
! Half of the time one thread works: behind each region of 20 ms it does 20 ms alone.
program serial_part_fortran
  use busy
  use omp_lib
  implicit none
  integer, parameter :: rounds = 50, pieces = 200
  real(real64) :: sum
  integer :: round, i, parallel_piece, serial_piece

  call calibrate()
  parallel_piece = steps_of(20e3_real64 * omp_get_max_threads() / pieces)
  serial_piece = steps_of(20e3_real64 / pieces)
  sum = 0
  do round = 1, rounds
    ! A serial part is named by the region that it is behind.
    !$omp parallel do schedule(dynamic) reduction(+:sum)  ! PLANTED
    do i = 1, pieces
      sum = sum + work(parallel_piece)
    end do
    !$omp end parallel do
#ifdef FIXED
    !$omp parallel do schedule(dynamic) reduction(+:sum)
#endif
    do i = 1, pieces
      sum = sum + work(serial_piece)
    end do
  end do
  call print_checksum(sum)
end program
