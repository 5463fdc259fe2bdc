// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients on a five-point operator whose solution is known; many short regions with reductions. `cg N` solves N systems
// at the same time, each with its own inner regions.
#include "kernel.h"

enum { edge = 384, size = edge * edge, most_steps = 400 };

static void multiply(const double *x, double *y)
{
#pragma omp parallel for schedule(static)
  for (int row = 0; row < edge; row++)
    for (int column = 0; column < edge; column++) {
      int i = row * edge + column;
      double sum = 4.05 * x[i];
      if (row > 0) sum -= x[i - edge];
      if (row + 1 < edge) sum -= x[i + edge];
      if (column > 0) sum -= x[i - 1];
      if (column + 1 < edge) sum -= x[i + 1];
      y[i] = sum;
    }
}

static double dot(const double *a, const double *b)
{
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int i = 0; i < size; i++) sum += a[i] * b[i];
  return sum;
}

// a = b + factor * c
static void combine(double *a, const double *b, double factor, const double *c)
{
#pragma omp parallel for schedule(static)
  for (int i = 0; i < size; i++) a[i] = b[i] + factor * c[i];
}

// Returns the largest error of the solution.
static double solve(uint64_t seed)
{
  double *exact = allocate(size, sizeof *exact), *x = allocate(size, sizeof *x), *residual = allocate(size, sizeof *residual),
         *direction = allocate(size, sizeof *direction), *product = allocate(size, sizeof *product);
  for (int i = 0; i < size; i++) exact[i] = next_uniform(&seed);
  multiply(exact, residual);
  combine(direction, residual, 0, residual);
  double rho = dot(residual, residual);
  for (int step = 0; step < most_steps && rho > 1e-22; step++) {
    multiply(direction, product);
    double alpha = rho / dot(direction, product);
    combine(x, x, alpha, direction);
    combine(residual, residual, -alpha, product);
    double next = dot(residual, residual);
    combine(direction, residual, next / rho, direction);
    rho = next;
  }
  double error = 0;
#pragma omp parallel for reduction(max : error)
  for (int i = 0; i < size; i++) error = fmax(error, fabs(x[i] - exact[i]));
  free(exact), free(x), free(residual), free(direction), free(product);
  return error;
}

int main(int count, char **arguments)
{
  int systems = count > 1 ? atoi(arguments[1]) : 1;
  double worst = 0;
#pragma omp parallel for num_threads(systems) schedule(static, 1) reduction(max : worst)
  for (int system = 0; system < systems; system++) worst = fmax(worst, solve(skip_random(141421356, 1000 * (uint64_t)system)));
  int right = worst < 1e-9;
  printf("largest error %s\n", right ? "below 1e-9: verified" : "WRONG");
  return !right;
}
