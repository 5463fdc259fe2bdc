// SPDX-License-Identifier: Apache-2.0
// Regions in which a member without iterations leaves a trace: they are announced, and stay as they are.
static int counter, values[64];
extern void foreign(int);

// CHECK-NOT: call i32 @weft_parallel_for(
// CHECK-LABEL: define {{.*}}@atomic_behind(
// CHECK: icmp ne ptr @weft_push_loop, null
// CHECK: call void @weft_push_loop(ptr @weft_loop
// CHECK: call void (ptr, i32, ptr, ...) @__kmpc_fork_call(
// REPORT: "function":"atomic_behind"{{.*}}"hint","reason":"outside of the loop: an atomic update"
void atomic_behind(int n) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) values[i]++;
#pragma omp atomic
    counter++;
  }
}
// REPORT: "function":"call_behind"{{.*}}"hint","reason":"outside of the loop: calls foreign"
void call_behind(int n) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) values[i]++;
    foreign(n);
  }
}
// REPORT: "function":"critical_behind"{{.*}}"hint","reason":"outside of the loop: calls __kmpc_critical"
void critical_behind(int n) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) values[i]++;
#pragma omp critical
    counter++;
  }
}
// REPORT: "function":"store_behind"{{.*}}"hint","reason":"outside of the loop: a store to shared memory"
void store_behind(int n) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) values[i]++;
    counter = n;
  }
}
// REPORT: "function":"counted_in_reduction"{{.*}}"hint","reason":"a reduction variable is changed outside of the loop"
int counted_in_reduction(int n) {
  int members = 0;
#pragma omp parallel reduction(+ : members)
  {
    members += 1;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) values[i]++;
  }
  return members;
}
// REPORT: "function":"set_in_reduction"{{.*}}"hint","reason":"a reduction variable is changed outside of the loop"
int set_in_reduction(int n) {
  int members = 0;
#pragma omp parallel reduction(+ : members)
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) values[i]++;
    members = 1;
  }
  return members;
}
// REPORT: "function":"after_barrier"{{.*}}"hint","reason":"code after the loop's barrier"
int after_barrier(int n, int *out) {
#pragma omp parallel
  {
    int own = 0;
#pragma omp for
    for (int i = 0; i < n; ++i) own = values[i]++ + 1;
    if (own) out[own] = values[own];
  }
  return out[0];
}
// REPORT: "function":"before_loop"{{.*}}"none","reason":"before the loop: an atomic update"
void before_loop(int n, int *bound) {
#pragma omp parallel
  {
#pragma omp atomic
    counter++;
#pragma omp for
    for (int i = 0; i < *bound + n; ++i) values[i]++;
  }
}
// What a member did in its iterations may decide what it does behind them.
// REPORT: "function":"own_flag"{{.*}}"range"
void own_flag(int n) {
#pragma omp parallel
  {
    int any = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) any = 1;
    if (any) {
#pragma omp atomic
      counter++;
    }
  }
}
