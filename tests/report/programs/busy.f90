! SPDX-License-Identifier: Apache-2.0
! What busy.h is for C: work of a known length. The functions are in busy_fortran.c.
module busy
  use, intrinsic :: iso_c_binding, only: c_double, c_int
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: calibrate, print_checksum, real64, steps_of, work

  interface
    ! Before all else.
    subroutine calibrate() bind(c, name='busy_calibrate')
    end subroutine

    integer(c_int) function steps_of(microseconds) bind(c, name='busy_steps_of')
      import :: c_double, c_int
      real(c_double), value, intent(in) :: microseconds
    end function

    ! Returns 1.
    real(c_double) function work(steps) bind(c, name='busy_work')
      import :: c_double, c_int
      integer(c_int), value, intent(in) :: steps
    end function
  end interface

contains

  subroutine print_checksum(sum)
    real(real64), intent(in) :: sum
    print '(a, i0)', 'checksum ', nint(sum)
  end subroutine
end module
