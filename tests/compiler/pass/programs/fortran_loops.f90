! SPDX-License-Identifier: Apache-2.0
! Loops of Fortran: flang's dispatched loops count from 1, its regions end with barriers.
program fortran_loops
  implicit none
  integer :: sizes(6) = (/ 0, 1, 2, 7, 64, 333 /)
  integer :: k, failures = 0
  do k = 1, 6
    call plain(sizes(k))
    call chunks(sizes(k))
    call dispatched(sizes(k))
    call reductions(sizes(k))
    call privates(sizes(k))
    call collapsed(sizes(k))
    call separate(sizes(k))
    call conditional(sizes(k))
    call nested(sizes(k))
  end do
  call sections()
  if (failures /= 0) stop 1

contains

  subroutine check(what, n, got, expected)
    character(len=*), intent(in) :: what
    integer, intent(in) :: n, got, expected
    if (got /= expected) then
      print *, what, n, got, expected
      failures = failures + 1
    end if
  end subroutine

  subroutine check_hits(what, n, hits)
    character(len=*), intent(in) :: what
    integer, intent(in) :: n, hits(:)
    call check(what, n, count(hits(1:n) == 1), n)
    call check(what, n, sum(hits), n)
  end subroutine

  subroutine plain(n)
    integer, intent(in) :: n
    integer :: i, hits(n + 4)
    hits = 0
    !$omp parallel do
    do i = 1, n
      hits(i) = hits(i) + 1
    end do
    !$omp end parallel do
    call check_hits('plain', n, hits)
  end subroutine

  subroutine chunks(n)
    integer, intent(in) :: n
    integer :: i, hits(n + 4)
    hits = 0
    !$omp parallel do schedule(static, 3)
    do i = n, 1, -1
      hits(i) = hits(i) + 1
    end do
    !$omp end parallel do
    call check_hits('static,3', n, hits)
  end subroutine

  subroutine dispatched(n)
    integer, intent(in) :: n
    integer :: i, hits(n + 4)
    integer(8) :: j
    hits = 0
    !$omp parallel do schedule(dynamic, 4)
    do i = 1, n
      hits(i) = hits(i) + 1
    end do
    !$omp end parallel do
    call check_hits('dynamic,4', n, hits)
    hits = 0
    !$omp parallel do schedule(guided)
    do j = 3, 2 * int(n, 8) + 1, 2
      hits((j - 1) / 2) = hits((j - 1) / 2) + 1
    end do
    !$omp end parallel do
    call check_hits('guided', n, hits)
    hits = 0
    !$omp parallel do schedule(runtime)
    do i = 1, n
      hits(i) = hits(i) + 1
    end do
    !$omp end parallel do
    call check_hits('runtime', n, hits)
  end subroutine

  subroutine reductions(n)
    integer, intent(in) :: n
    integer :: i, total, most
    total = 3
    !$omp parallel do reduction(+:total)
    do i = 1, n
      total = total + i
    end do
    !$omp end parallel do
    call check('sum', n, total, 3 + n * (n + 1) / 2)
    most = 0
    !$omp parallel do reduction(max:most) schedule(dynamic, 2)
    do i = 1, n
      most = max(most, i)
    end do
    !$omp end parallel do
    call check('max', n, most, n)
  end subroutine

  subroutine privates(n)
    integer, intent(in) :: n
    integer :: i, last, first, total
    last = -1
    first = 7
    total = 0
    !$omp parallel do firstprivate(first) lastprivate(last) reduction(+:total)
    do i = 1, n
      total = total + first
      last = i
    end do
    !$omp end parallel do
    call check('firstprivate', n, total, 7 * n)
    if (n > 0) call check('lastprivate', n, last, n)
    !$omp parallel do lastprivate(last) schedule(dynamic, 3)
    do i = 1, n
      last = 2 * i
    end do
    !$omp end parallel do
    if (n > 0) call check('lastprivate dynamic', n, last, 2 * n)
  end subroutine

  subroutine collapsed(n)
    integer, intent(in) :: n
    integer :: i, j, total
    total = 0
    !$omp parallel do collapse(2) reduction(+:total)
    do i = 1, n
      do j = 1, 5
        total = total + j
      end do
    end do
    !$omp end parallel do
    call check('collapse', n, total, 15 * n)
  end subroutine

  subroutine separate(n)
    integer, intent(in) :: n
    integer :: i, hits(n + 4)
    hits = 0
    !$omp parallel
    !$omp do
    do i = 1, n
      hits(i) = hits(i) + 1
    end do
    !$omp end do
    !$omp end parallel
    call check_hits('separate', n, hits)
  end subroutine

  subroutine conditional(n)
    integer, intent(in) :: n
    integer :: i, hits(n + 4)
    hits = 0
    !$omp parallel do if (n > 5) num_threads(3)
    do i = 1, n
      hits(i) = hits(i) + 1
    end do
    !$omp end parallel do
    call check_hits('if', n, hits)
  end subroutine

  subroutine nested(n)
    integer, intent(in) :: n
    integer :: i, j, total
    integer :: sums(5)
    sums = 0
    !$omp parallel do private(j, total) schedule(dynamic)
    do i = 1, 5
      total = 0
      !$omp parallel do reduction(+:total)
      do j = 1, n
        total = total + j
      end do
      !$omp end parallel do
      sums(i) = total
    end do
    !$omp end parallel do
    call check('nested', n, sum(sums), 5 * (n * (n + 1) / 2))
  end subroutine

  subroutine sections()
    integer :: x, y
    x = 0
    y = 0
    !$omp parallel sections
    !$omp section
    x = 1
    !$omp section
    y = 2
    !$omp end parallel sections
    call check('sections', 2, x + y, 3)
  end subroutine

end program
