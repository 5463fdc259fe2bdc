! SPDX-License-Identifier: Apache-2.0
! flang's dispatched loops count from 1, which ranges do not: the bounds are shifted.
! REPORT: "lowering":"range"
! CHECK: define internal void @{{.*}}.ranges(
! CHECK: call i32 %{{.*}}(ptr %range)
! CHECK: [[BEGIN:%.*]] = trunc i64 %{{.*}} to i32
! CHECK-NEXT: add i32 [[BEGIN]], 1
subroutine one_based(n, values)
  integer, intent(in) :: n
  integer, intent(inout) :: values(n)
  integer :: i
  !$omp parallel do schedule(dynamic, 4)
  do i = 1, n
    values(i) = values(i) + 1
  end do
end subroutine
