// SPDX-License-Identifier: Apache-2.0
// Multigrid: V-cycles for the Poisson equation on a cube of 64^3 cells, down to grids that are smaller than the team. Verified by the
// residual and by the distance from the exact solution, which is that of the discretisation.
#include "kernel.h"

#include <string.h>

enum { levels = 6, finest = 63, cycles = 12 };

struct grid {
  int n;  // interior points of an edge; one layer of zeros lies around them
  double *u, *f, *r;
};

static inline size_t at(int n, int i, int j, int k) { return ((size_t)i * (n + 2) + j) * (n + 2) + k; }

static double stencil(const double *u, int n, size_t p)
{
  size_t row = n + 2, plane = row * row;
  return 6 * u[p] - u[p - 1] - u[p + 1] - u[p - row] - u[p + row] - u[p - plane] - u[p + plane];
}

// Red-black Gauss-Seidel.
static void smooth(struct grid *g, int sweeps)
{
  int n = g->n;
  double square = 1.0 / ((n + 1.0) * (n + 1.0));
  for (int half = 0; half < 2 * sweeps; half++) {
#pragma omp parallel for collapse(2) schedule(static)
    for (int i = 1; i <= n; i++)
      for (int j = 1; j <= n; j++)
        for (int k = 1 + (i + j + half) % 2; k <= n; k += 2) {
          size_t p = at(n, i, j, k);
          g->u[p] += (square * g->f[p] - stencil(g->u, n, p)) / 6;
        }
  }
}

static double residual(struct grid *g)
{
  int n = g->n;
  double scale = (n + 1.0) * (n + 1.0), largest = 0;
#pragma omp parallel for collapse(2) schedule(dynamic, 64) reduction(max : largest)
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++)
      for (int k = 1; k <= n; k++) {
        size_t p = at(n, i, j, k);
        g->r[p] = g->f[p] - scale * stencil(g->u, n, p);
        largest = fmax(largest, fabs(g->r[p]));
      }
  return largest;
}

// Full weighting of the fine residual: the coarse right-hand side.
static void restrict_to(struct grid *coarse, const struct grid *fine)
{
  int n = coarse->n;
  memset(coarse->u, 0, sizeof(double) * (n + 2) * (n + 2) * (n + 2));
#pragma omp parallel for schedule(guided)
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++)
      for (int k = 1; k <= n; k++) {
        double sum = 0;
        for (int a = -1; a <= 1; a++)
          for (int b = -1; b <= 1; b++)
            for (int c = -1; c <= 1; c++)
              sum += fine->r[at(fine->n, 2 * i + a, 2 * j + b, 2 * k + c)] / (double)(8 << (abs(a) + abs(b) + abs(c)));
        coarse->f[at(n, i, j, k)] = sum;
      }
}

// Adds the coarse correction by trilinear interpolation.
static void prolong(struct grid *fine, const struct grid *coarse)
{
  int n = fine->n;
#pragma omp parallel for collapse(2)
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++)
      for (int k = 1; k <= n; k++) {
        double sum = 0;
        for (int a = 0; a <= i % 2; a++)
          for (int b = 0; b <= j % 2; b++)
            for (int c = 0; c <= k % 2; c++) sum += coarse->u[at(coarse->n, i / 2 + a, j / 2 + b, k / 2 + c)];
        fine->u[at(n, i, j, k)] += sum / (double)(1 << (i % 2 + j % 2 + k % 2));
      }
}

static void cycle(struct grid *grids, int level)
{
  struct grid *g = &grids[level];
  if (level == 0) {
    smooth(g, 8);
    return;
  }
  smooth(g, 2);
  residual(g);
  restrict_to(&grids[level - 1], g);
  cycle(grids, level - 1);
  prolong(g, &grids[level - 1]);
  smooth(g, 2);
}

int main(void)
{
  const double pi = acos(-1);
  struct grid grids[levels];
  for (int level = 0, n = finest >> (levels - 1); level < levels; level++, n = 2 * n + 1) {
    size_t points = (size_t)(n + 2) * (n + 2) * (n + 2);
    grids[level] = (struct grid){n, allocate(points, 8), allocate(points, 8), allocate(points, 8)};
  }
  struct grid *g = &grids[levels - 1];
  double step = 1.0 / (finest + 1), error = 0, first = 0, last = 0;
#pragma omp parallel for collapse(3)
  for (int i = 1; i <= finest; i++)
    for (int j = 1; j <= finest; j++)
      for (int k = 1; k <= finest; k++)
        g->f[at(finest, i, j, k)] = 3 * pi * pi * sin(pi * i * step) * sin(pi * j * step) * sin(pi * k * step);
  first = residual(g);
  for (int c = 0; c < cycles; c++) cycle(grids, levels - 1);
  last = residual(g);
#pragma omp parallel for collapse(2) reduction(max : error)
  for (int i = 1; i <= finest; i++)
    for (int j = 1; j <= finest; j++)
      for (int k = 1; k <= finest; k++) {
        double exact = sin(pi * i * step) * sin(pi * j * step) * sin(pi * k * step);
        error = fmax(error, fabs(g->u[at(finest, i, j, k)] - exact));
      }
  // The three-point formula of each axis gives (pi h / 2) / sin(pi h / 2), squared, times the exact solution.
  double ratio = pi * step / 2 / sin(pi * step / 2);
  int wrong = verdict("error", error, ratio * ratio - 1, 1e-9) + (last > 1e-7 * first);
  printf("residual %s\n", last > 1e-7 * first ? "WRONG" : "verified");
  for (int level = 0; level < levels; level++) free(grids[level].u), free(grids[level].f), free(grids[level].r);
  return wrong;
}
