// SPDX-License-Identifier: Apache-2.0
// CHOLMOD: the Poisson problem on a cube, by a supernodal factorization, whose dense parts call BLAS, and which has
// regions of its own.
#include <math.h>
#include <stdio.h>
#include <suitesparse/cholmod.h>

enum { kEdge = 22 };

static int at(int x, int y, int z) { return (x * kEdge + y) * kEdge + z; }

int main(void) {
  cholmod_common common;
  cholmod_l_start(&common);
  common.supernodal = CHOLMOD_SUPERNODAL;
  const int n = kEdge * kEdge * kEdge;
  cholmod_triplet* entries = cholmod_l_allocate_triplet(n, n, 4 * (size_t)n, 1, CHOLMOD_REAL, &common);
  SuiteSparse_long *row = entries->i, *column = entries->j;
  double* value = entries->x;
  size_t filled = 0;
  for (int x = 0; x < kEdge; ++x)
    for (int y = 0; y < kEdge; ++y)
      for (int z = 0; z < kEdge; ++z) {
        const int here = at(x, y, z);
        const int behind[] = {x + 1 < kEdge ? at(x + 1, y, z) : -1, y + 1 < kEdge ? at(x, y + 1, z) : -1,
                              z + 1 < kEdge ? at(x, y, z + 1) : -1};
        row[filled] = column[filled] = here, value[filled++] = 6.1;
        for (int i = 0; i < 3; ++i)
          if (behind[i] >= 0) row[filled] = here, column[filled] = behind[i], value[filled++] = -1;
      }
  entries->nnz = filled;
  cholmod_sparse* matrix = cholmod_l_triplet_to_sparse(entries, filled, &common);
  cholmod_factor* factor = cholmod_l_analyze(matrix, &common);
  cholmod_l_factorize(matrix, factor, &common);
  cholmod_dense* ones = cholmod_l_ones(n, 1, CHOLMOD_REAL, &common);
  cholmod_dense* solution = cholmod_l_solve(CHOLMOD_A, factor, ones, &common);
  const double* at_point = solution->x;
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += at_point[i];
  printf("%d %.12g %.12g\n", common.status, sum, at_point[at(kEdge / 2, kEdge / 2, kEdge / 2)]);
  cholmod_l_free_dense(&solution, &common);
  cholmod_l_free_dense(&ones, &common);
  cholmod_l_free_factor(&factor, &common);
  cholmod_l_free_sparse(&matrix, &common);
  cholmod_l_free_triplet(&entries, &common);
  cholmod_l_finish(&common);
  return 0;
}
