! SPDX-License-Identifier: Apache-2.0
! Routines with texts, and those of TAMPIf.h, in more tasks than threads. Says "done" when all is right.
#include <TAMPIf.h>
program fortran_tasks
  use mpi
  implicit none
  integer, parameter :: tasks = 6
  integer :: me, peer, provided, error, i, mine, comms(tasks), wrong, numbers(tasks), request, tag
  integer :: statuses(MPI_STATUS_SIZE, tasks)
  character(len=40) :: name
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  logical :: any_order
  external :: TAMPI_Isend, TAMPI_Irecv
  call MPI_Init_thread(MPI_TASK_MULTIPLE, provided, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
  peer = ieor(me, 1)
  wrong = 0
  if (provided /= MPI_TASK_MULTIPLE) wrong = wrong + 1
  do i = 1, tasks
    call MPI_Comm_dup(MPI_COMM_WORLD, comms(i), error)
  end do

  ! Each rank opens the files in an order of its own; MPICH holds a lock meanwhile, and opens one after the other.
  call MPI_Get_library_version(version, i, error)
  any_order = index(version, 'Open MPI') == 1
  !$omp parallel
  !$omp single
  do i = 1, tasks
    mine = i
    if (mod(me, 2) == 1 .and. any_order) mine = tasks + 1 - i
    !$omp task firstprivate(mine) private(name)
    write (name, '(a, i0)') 'file', mine
    call use_file(trim(name), comms(mine))
    !$omp end task
    if (.not. any_order) then
      !$omp taskwait
    end if
  end do
  !$omp end single
  !$omp end parallel

  numbers = -1
  !$omp parallel
  !$omp single
  do i = 1, tasks
    !$omp task firstprivate(i) private(request, tag, error) depend(out: numbers(i))
    tag = i
    if (mod(me, 2) == 1) then
      tag = tasks + 1 - i
      numbers(i) = 10 * tag
      call TAMPI_Isend(numbers(i), 1, MPI_INTEGER, peer, tag, MPI_COMM_WORLD, request, error)
    else
      call TAMPI_Irecv(numbers(i), 1, MPI_INTEGER, peer, tag, MPI_COMM_WORLD, request, statuses(1, i), error)
    end if
    if (request /= MPI_REQUEST_NULL .or. error /= MPI_SUCCESS) call count_wrong()
    !$omp end task
    !$omp task firstprivate(i) depend(in: numbers(i))
    if (mod(me, 2) == 0) then
      if (numbers(i) /= 10 * i .or. statuses(MPI_TAG, i) /= i) call count_wrong()
    end if
    !$omp end task
  end do
  !$omp end single
  !$omp end parallel

  if (wrong == 0) print '(i0,a)', me, ': done'
  if (wrong /= 0) print '(i0,a,i0)', me, ': wrong ', wrong
  call MPI_Finalize(error)

contains
  subroutine count_wrong()
    !$omp atomic
    wrong = wrong + 1
  end subroutine

  subroutine use_file(path, comm)
    character(len=*), intent(in) :: path
    integer, intent(in) :: comm
    integer :: file, code
    integer(kind=MPI_OFFSET_KIND) :: bytes
    call MPI_File_open(comm, path, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, code)
    if (code /= MPI_SUCCESS) call count_wrong()
    bytes = 0
    call MPI_File_set_view(file, bytes, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, code)
    if (code /= MPI_SUCCESS) call count_wrong()
    call MPI_File_close(file, code)
  end subroutine
end program
