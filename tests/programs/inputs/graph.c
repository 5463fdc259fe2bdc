// SPDX-License-Identifier: Apache-2.0
// GraphBLAS: the triangles of a graph, by masked products of sparse matrices, and one step of its degrees.
#include <stdint.h>
#include <stdio.h>
#include <GraphBLAS.h>

enum { kNodes = 1 << 13, kEdges = 1 << 17 };

int main(void) {
  GrB_init(GrB_NONBLOCKING);
  GrB_Matrix graph, lower, paths;
  GrB_Matrix_new(&graph, GrB_INT64, kNodes, kNodes);
  uint64_t state = 88172645463325252u;
  for (int edge = 0; edge < kEdges; ++edge) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    // The product of two numbers makes some nodes much busier than others.
    const uint64_t from = (state & 8191) * (state >> 13 & 8191) >> 13, to = state >> 26 & 8191;
    if (from == to) continue;
    GrB_Matrix_setElement_INT64(graph, 1, from, to);
    GrB_Matrix_setElement_INT64(graph, 1, to, from);
  }
  GrB_Matrix_new(&lower, GrB_INT64, kNodes, kNodes);
  GrB_Matrix_select_INT64(lower, NULL, NULL, GrB_TRIL, graph, -1, NULL);
  GrB_Matrix_new(&paths, GrB_INT64, kNodes, kNodes);
  int64_t triangles = 0, entries = 0;
  for (int round = 0; round < 3; ++round) {
    GrB_mxm(paths, lower, NULL, GrB_PLUS_TIMES_SEMIRING_INT64, lower, lower, GrB_DESC_S);
    GrB_Matrix_reduce_INT64(&triangles, NULL, GrB_PLUS_MONOID_INT64, paths, NULL);
    GrB_mxm(paths, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_INT64, graph, lower, NULL);
    GrB_Matrix_reduce_INT64(&entries, NULL, GrB_PLUS_MONOID_INT64, paths, NULL);
  }
  printf("%lld %lld\n", (long long)triangles, (long long)entries);
  GrB_Matrix_free(&paths);
  GrB_Matrix_free(&lower);
  GrB_Matrix_free(&graph);
  GrB_finalize();
  return 0;
}
