// SPDX-License-Identifier: Apache-2.0
// Tasks may use private variables until the barrier that a range body does not have: the member waits for its own.
void make_task(int *array);

// REPORT: "function":"with_barrier"{{.*}}"range"
// CHECK-LABEL: define internal void @with_barrier.omp_outlined.ranges(
// CHECK: [[NUMBER:%.*]] = call i32 @__kmpc_global_thread_num(
// CHECK: call void @__kmpc_taskgroup(ptr {{.*}}, i32 [[NUMBER]])
// CHECK: call void @make_task(
// CHECK: call void @__kmpc_end_taskgroup(ptr {{.*}}, i32 [[NUMBER]])
// CHECK-NOT: __kmpc_barrier
// CHECK: ret void
void with_barrier(int n) {
#pragma omp parallel
  {
    int array[4] = {0};
#pragma omp for
    for (int i = 0; i < n; ++i) make_task(array);
  }
}

// REPORT: "function":"without_barrier"{{.*}}"range"
// CHECK-LABEL: define internal void @without_barrier.omp_outlined.ranges(
// CHECK-NOT: taskgroup
// CHECK: ret void
void without_barrier(int n) {
  int array[4] = {0};
#pragma omp parallel for
  for (int i = 0; i < n; ++i) make_task(array);
}

// REPORT: "function":"no_tasks"{{.*}}"range"
// CHECK-LABEL: define internal void @no_tasks.omp_outlined.ranges(
// CHECK-NOT: taskgroup
// CHECK: ret void
void no_tasks(int n, int *values) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; ++i) values[i]++;
  }
}
