! SPDX-License-Identifier: Apache-2.0
! The affinity routines whose arguments are strings, with hidden lengths and blanks to the end; and places by reference.
include '../support/check.inc'

program fortran_affinity
  use check
  use omp_lib
  implicit none
  character(len=40) :: text
  character(len=3) :: short
  character(len=80) :: kept
  integer :: length, place
  integer, allocatable :: ids(:)

  length = omp_get_affinity_format(kept)
  call expect(length, len_trim(kept), 'length of the default format')

  call omp_set_affinity_format('member %n of %N')
  text = repeat('#', len(text))
  length = omp_get_affinity_format(text)
  call expect(length, 15, 'length of a format')
  call expect_true(text == 'member %n of %N', 'format as set: ' // text)
  call expect_true(text(16:) == repeat(' ', len(text) - 15), 'blanks to the end')
  length = omp_get_affinity_format(short)
  call expect(length, 15, 'length for a short variable')
  call expect_true(short == 'mem', 'cut format: ' // short)

  text = repeat('#', len(text))
  length = omp_capture_affinity(text, 'level %L, %0.3n')
  call expect(length, 12, 'length of a capture')
  call expect_true(text == 'level 0, 000', 'capture: ' // text)
  length = omp_capture_affinity(short, '%{num_threads}234')
  call expect(length, 4, 'length of a cut capture')
  call expect_true(short == '123', 'cut capture: ' // short)
  length = omp_capture_affinity(text, '')
  call expect_true(text == 'member 0 of 1', 'capture by the variable: ' // text)

  !$omp parallel num_threads(3) private(text, length)
  block
    character(len=40) :: expected
    write (expected, '(a, i0, a, i0)') 'member ', omp_get_thread_num(), ' of ', omp_get_num_threads()
    length = omp_capture_affinity(text, ' ')
    if (length == 1) length = omp_capture_affinity(text, '')
    call expect(length, len_trim(expected), 'length in a member')
    call expect_true(text == expected, 'in a member: ' // text)
  end block
  !$omp end parallel
  call omp_set_affinity_format(trim(kept))

  do place = 0, omp_get_num_places() - 1
    allocate (ids(omp_get_place_num_procs(place)))
    ids = -1
    call omp_get_place_proc_ids(place, ids)
    call expect_true(all(ids >= 0), 'CPUs of a place')
    deallocate (ids)
  end do
  allocate (ids(max(1, omp_get_partition_num_places())))
  ids = -1
  call omp_get_partition_place_nums(ids)
  if (omp_get_partition_num_places() > 0) call expect_true(any(ids == omp_get_place_num()), 'own place')
  call finish()
end program fortran_affinity
