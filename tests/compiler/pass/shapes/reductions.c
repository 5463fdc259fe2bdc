// SPDX-License-Identifier: Apache-2.0
// Reductions are combined by each member at its end, without waiting.

// REPORT: "function":"combined"{{.*}}"range"
// CHECK-LABEL: define internal void @combined.omp_outlined.ranges(
// CHECK: call i32 @__kmpc_global_thread_num(
// CHECK: call i32 @__kmpc_reduce_nowait(
// CHECK: call void @__kmpc_end_reduce_nowait(
double combined(int n, const double *values) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += values[i];
  return sum;
}

// REPORT: "function":"separate"{{.*}}"range"
// CHECK-LABEL: define internal void @separate.omp_outlined.ranges(
// CHECK-NOT: @__kmpc_barrier
// CHECK-NOT: @__kmpc_reduce(
// CHECK: call i32 @__kmpc_reduce_nowait(
// CHECK: call void @__kmpc_end_reduce_nowait(
// CHECK: atomicrmw fadd
// CHECK-NOT: __kmpc_end_reduce
// CHECK: ret void
double separate(int n, const double *values) {
  double sum = 0;
#pragma omp parallel
  {
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < n; ++i) sum += values[i];
  }
  return sum;
}
