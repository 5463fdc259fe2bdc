! SPDX-License-Identifier: Apache-2.0
! Fault: small_tasks
! A task for each element of a list.
program small_tasks_fortran
  use busy
  use omp_lib
  implicit none
  integer, parameter :: rounds = 100
  integer :: round, i, elements, piece
  real(real64), allocatable :: found(:)
  real(real64) :: sum

  call calibrate()
  piece = steps_of(0.1_real64)
  elements = 50000 * omp_get_max_threads()
  allocate(found(elements))
  found = 0
  !$omp parallel private(round)
  do round = 1, rounds
#ifdef FIXED
    !$omp do schedule(static)
    do i = 1, elements
      found(i) = found(i) + work(piece)
    end do
    !$omp end do
#else
    !$omp single
    do i = 1, elements
      !$omp task firstprivate(i) shared(found)  ! PLANTED
      found(i) = found(i) + work(piece)
      !$omp end task
    end do
    !$omp end single
#endif
  end do
  !$omp end parallel
  sum = 0
  do i = 1, elements
    sum = sum + found(i)
  end do
  call print_checksum(sum)
end program
