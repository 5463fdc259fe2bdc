! SPDX-License-Identifier: Apache-2.0
! Jacobi's iteration and conjugate gradients for the heat equation on a square, each inside one region: worksharing loops,
! workshare, single, orphaned constructs and reductions, as Fortran codes use them. Prints what it has found.
module heat
  implicit none
  integer, parameter :: real8 = selected_real_kind(12), n = 120
contains
  subroutine jacobi(u, f, sweeps, change)
    real(real8), intent(inout) :: u(0:n + 1, 0:n + 1)
    real(real8), intent(in) :: f(n, n)
    integer, intent(in) :: sweeps
    real(real8), intent(out) :: change
    real(real8), allocatable :: old(:, :)
    integer :: i, j, sweep
    allocate (old(0:n + 1, 0:n + 1))
    !$omp parallel default(shared) private(i, j, sweep)
    do sweep = 1, sweeps
      !$omp workshare
      old = u
      !$omp end workshare
      !$omp single
      change = 0
      !$omp end single
      !$omp do reduction(max: change) schedule(static)
      do j = 1, n
        do i = 1, n
          u(i, j) = (old(i - 1, j) + old(i + 1, j) + old(i, j - 1) + old(i, j + 1) + f(i, j))/4
          change = max(change, abs(u(i, j) - old(i, j)))
        end do
      end do
      !$omp end do
    end do
    !$omp end parallel
  end subroutine jacobi

  ! Orphaned: all members of the caller's team call it.
  subroutine apply(x, y)
    real(real8), intent(in) :: x(0:n + 1, 0:n + 1)
    real(real8), intent(inout) :: y(0:n + 1, 0:n + 1)
    integer :: i, j
    !$omp do schedule(dynamic, 8)
    do j = 1, n
      do i = 1, n
        y(i, j) = 4*x(i, j) - x(i - 1, j) - x(i + 1, j) - x(i, j - 1) - x(i, j + 1)
      end do
    end do
    !$omp end do
  end subroutine apply

  subroutine gradients(u, f, steps, rest)
    real(real8), intent(inout) :: u(0:n + 1, 0:n + 1)
    real(real8), intent(in) :: f(n, n)
    integer, intent(in) :: steps
    real(real8), intent(out) :: rest
    real(real8), allocatable :: r(:, :), d(:, :), q(:, :)
    real(real8) :: rho, next, curvature, alpha
    integer :: j, step
    allocate (r(0:n + 1, 0:n + 1), d(0:n + 1, 0:n + 1), q(0:n + 1, 0:n + 1), source=0.0_real8)
    rho = 0
    curvature = 0
    next = 0
    !$omp parallel default(shared) private(j, step, alpha)
    call apply(u, q)
    !$omp do reduction(+: rho)
    do j = 1, n
      r(1:n, j) = f(:, j) - q(1:n, j)
      d(1:n, j) = r(1:n, j)
      rho = rho + sum(r(1:n, j)**2)
    end do
    !$omp end do
    do step = 1, steps
      call apply(d, q)
      !$omp do reduction(+: curvature)
      do j = 1, n
        curvature = curvature + sum(d(1:n, j)*q(1:n, j))
      end do
      !$omp end do
      alpha = rho/curvature
      !$omp do reduction(+: next)
      do j = 1, n
        u(1:n, j) = u(1:n, j) + alpha*d(1:n, j)
        r(1:n, j) = r(1:n, j) - alpha*q(1:n, j)
        next = next + sum(r(1:n, j)**2)
      end do
      !$omp end do
      !$omp do
      do j = 1, n
        d(1:n, j) = r(1:n, j) + next/rho*d(1:n, j)
      end do
      !$omp end do
      !$omp single
      rho = next
      next = 0
      curvature = 0
      !$omp end single
    end do
    !$omp end parallel
    rest = sqrt(rho)
  end subroutine gradients
end module heat

program solvers
  use heat
  implicit none
  real(real8) :: u(0:n + 1, 0:n + 1), v(0:n + 1, 0:n + 1), f(n, n), change, rest
  integer :: i, j
  do concurrent(i=1:n, j=1:n)
    f(i, j) = real(mod(7*i + 13*j, 11) - 4, real8)/n**2
  end do
  u = 0
  v = 0
  call jacobi(u, f, 2000, change)
  call gradients(v, f, 300, rest)
  print '(a, es20.10)', 'jacobi    ', sum(u)
  print '(a, es20.10)', 'gradients ', sum(v)
  print '(a, l1)', 'converged ', rest < 1e-10_real8
end program solvers
