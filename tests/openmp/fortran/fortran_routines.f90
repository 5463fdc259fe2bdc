! SPDX-License-Identifier: Apache-2.0
! The routines through omp_lib: logicals, default and 8-byte integers each have entry points of their own.
include '../support/check.inc'

program fortran_routines
  use check
  use omp_lib
  implicit none
  integer :: members, chunk
  integer(8) :: chunk8
  integer(omp_sched_kind) :: kind_
  real(8) :: begin
  integer, allocatable :: ids(:)

  call expect(omp_get_num_threads(), 1, 'omp_get_num_threads')
  call expect(omp_get_thread_num(), 0, 'omp_get_thread_num')
  call expect_true(omp_get_max_threads() >= 1, 'omp_get_max_threads')
  call expect_true(omp_get_num_procs() >= 1, 'omp_get_num_procs')
  call expect_true(omp_get_thread_limit() >= 1, 'omp_get_thread_limit')
  call expect_true(.not. omp_in_parallel(), 'omp_in_parallel')
  call expect_true(.not. omp_in_final(), 'omp_in_final')
  call expect_true(.not. omp_get_cancellation(), 'omp_get_cancellation')
  call expect_true(omp_is_initial_device(), 'omp_is_initial_device')

  call omp_set_dynamic(.true.)
  call expect_true(omp_get_dynamic(), 'omp_get_dynamic')
  call omp_set_dynamic(.false.)
  call expect_true(.not. omp_get_dynamic(), 'omp_get_dynamic off')

  call omp_set_num_threads(3)
  call expect(team_size(), 3, 'omp_set_num_threads')
  call omp_set_num_threads(5_8)
  call expect(team_size(), 5, 'omp_set_num_threads, 8 bytes')

  call omp_set_schedule(omp_sched_dynamic, 4)
  call omp_get_schedule(kind_, chunk)
  call expect(chunk, 4, 'omp_get_schedule')
  call expect(int(iand(int(kind_), not(ishft(1, 31)))), int(omp_sched_dynamic), 'omp_get_schedule: kind')
  call omp_set_schedule(omp_sched_guided, 6_8)
  call omp_get_schedule(kind_, chunk8)
  call expect(int(chunk8), 6, 'omp_get_schedule, 8 bytes')

  call omp_set_max_active_levels(4)
  call expect(omp_get_max_active_levels(), 4, 'omp_get_max_active_levels')
  call omp_set_max_active_levels(3_8)
  call expect(omp_get_max_active_levels(), 3, 'omp_get_max_active_levels, 8 bytes')
  call expect_true(omp_get_supported_active_levels() >= 3, 'omp_get_supported_active_levels')
  call omp_set_nested(.true.)
  call expect_true(omp_get_nested(), 'omp_get_nested')
  call omp_set_max_active_levels(3)

  members = 0
  !$omp parallel num_threads(2) reduction(+: members)
  !$omp parallel num_threads(3) reduction(+: members)
  members = members + 1
  call expect(omp_get_level(), 2, 'omp_get_level')
  call expect(omp_get_active_level(), 2, 'omp_get_active_level')
  call expect_true(omp_in_parallel(), 'omp_in_parallel inside')
  call expect(omp_get_team_size(1), 2, 'omp_get_team_size')
  call expect(omp_get_team_size(2_8), 3, 'omp_get_team_size, 8 bytes')
  call expect(omp_get_ancestor_thread_num(2), omp_get_thread_num(), 'omp_get_ancestor_thread_num')
  call expect(omp_get_ancestor_thread_num(0_8), 0, 'omp_get_ancestor_thread_num, 8 bytes')
  call expect(omp_get_ancestor_thread_num(-huge(0_8)), -1, 'omp_get_ancestor_thread_num: out of range')
  call expect(omp_get_ancestor_thread_num(7), -1, 'omp_get_ancestor_thread_num: no such level')
  !$omp end parallel
  !$omp end parallel
  call expect(members, 6, 'nested members')

  begin = omp_get_wtime()
  call expect_true(omp_get_wtick() > 0d0 .and. omp_get_wtick() < 0.1d0, 'omp_get_wtick')
  call expect_true(omp_get_wtime() >= begin, 'omp_get_wtime')

  call expect_true(omp_get_num_places() >= 0, 'omp_get_num_places')
  call expect_true(omp_get_place_num() >= -1, 'omp_get_place_num')
  call expect(omp_get_place_num_procs(-1), 0, 'omp_get_place_num_procs')
  call expect_true(omp_get_partition_num_places() >= 0, 'omp_get_partition_num_places')
  call expect_true(omp_get_proc_bind() >= omp_proc_bind_false, 'omp_get_proc_bind')
  if (omp_get_num_places() > 0) then
    allocate (ids(omp_get_place_num_procs(0)))
    call omp_get_place_proc_ids(0, ids)
    call expect_true(all(ids >= 0), 'omp_get_place_proc_ids')
  end if
  call expect(omp_get_num_teams(), 1, 'omp_get_num_teams')
  call expect(omp_get_team_num(), 0, 'omp_get_team_num')
  call expect_true(omp_get_num_devices() >= 0, 'omp_get_num_devices')
  call expect_true(omp_get_max_task_priority() >= 0, 'omp_get_max_task_priority')
  call omp_set_default_device(0)
  call expect(omp_get_default_device(), 0, 'omp_get_default_device')
  call finish()

contains

  integer function team_size() result(members)
    members = 0
    !$omp parallel reduction(+: members)
    members = members + 1
    !$omp end parallel
  end function team_size

end program fortran_routines
