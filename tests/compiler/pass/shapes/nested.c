// SPDX-License-Identifier: Apache-2.0
// A region inside of a region: the outer one's body offers the inner one.

// REPORT: "function":"nested.omp_outlined"{{.*}}"range"
// REPORT: "function":"nested"{{.*}}"range"
// CHECK-LABEL: define {{.*}}@nested(
// CHECK: call i32 @weft_parallel_for(ptr @weft_loop{{.*}}, ptr @nested.omp_outlined.ranges,
// CHECK-LABEL: define internal void @nested.omp_outlined.ranges(
// CHECK: call i32 @weft_parallel_for(ptr @weft_loop{{.*}}, ptr @nested.omp_outlined.omp_outlined.ranges,
void nested(int rows, int columns, double *values) {
#pragma omp parallel for
  for (int i = 0; i < rows; ++i) {
#pragma omp parallel for
    for (int j = 0; j < columns; ++j) values[i * columns + j] += 1;
  }
}
