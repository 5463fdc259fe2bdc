// SPDX-License-Identifier: Apache-2.0
// A region that may also be called in place of a fork: the call runs the same body.

// CHECK-LABEL: define {{.*}}@perhaps(
// CHECK: call i32 @weft_parallel_for(ptr @weft_loop{{.*}}, ptr @perhaps.omp_outlined.ranges,
// CHECK: call void ({{.*}}) @__kmpc_fork_call({{.*}}, i32 1, ptr @perhaps.omp_outlined, ptr %weft.captures)
// CHECK: call void @__kmpc_serialized_parallel(
// CHECK: call void @perhaps.omp_outlined.ranges.called(
// CHECK: call void @__kmpc_end_serialized_parallel(
// CHECK-LABEL: define internal void @perhaps.omp_outlined.ranges.called(
// CHECK: call void @weft.run_member.1(ptr %0, ptr {{.*}}, ptr @perhaps.omp_outlined.ranges, ptr %{{.*}}, ptr @weft.next_dispatched.1,
// CHECK-NOT: __kmpc_dispatch_init_4
// REPORT: "function":"perhaps"{{.*}}"range"
void perhaps(int n, int parallel, double *values) {
#pragma omp parallel for if (parallel) schedule(dynamic, n)
  for (int i = 0; i < n; ++i) values[i] += 1;
}
