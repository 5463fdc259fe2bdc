// SPDX-License-Identifier: Apache-2.0
// What the records say: version, flags (1 monotonic, 2 lastprivate, 4 alone), schedule, the most iterations.
static int values[64];

// CHECK-DAG: = internal global {{.*}} { i32 1, i32 4, i32 1, i32 0, ptr {{.*}}, i64 2147483647,
// REPORT: "function":"nonmonotonic"{{.*}}"range"
void nonmonotonic(int n) {
#pragma omp parallel for schedule(dynamic, 2)
  for (int i = 0; i < n; ++i) values[i]++;
}
// CHECK-DAG: = internal global {{.*}} { i32 1, i32 5, i32 1, i32 0, ptr {{.*}}, i64 9223372036854775807,
// REPORT: "function":"monotonic"{{.*}}"range"
void monotonic(long n) {
#pragma omp parallel for schedule(monotonic : dynamic, 2)
  for (long i = 0; i < n; ++i) values[i]++;
}
// CHECK-DAG: = internal global {{.*}} { i32 1, i32 6, i32 0, i32 0, ptr {{.*}}, i64 4294967295,
// REPORT: "function":"last"{{.*}}"range"
int last(unsigned n) {
  int value = 0;
#pragma omp parallel for lastprivate(value)
  for (unsigned i = 0; i < n; ++i) value = values[i];
  return value;
}
// CHECK-DAG: = internal global {{.*}} { i32 1, i32 4, i32 2, i32 0,
// REPORT: "function":"guided"{{.*}}"range"
void guided(int n) {
#pragma omp parallel for schedule(guided)
  for (int i = 0; i < n; ++i) values[i]++;
}
// CHECK-DAG: = internal global {{.*}} { i32 1, i32 {{4|5}}, i32 3, i32 0,
// REPORT: "function":"automatic"{{.*}}"range"
void automatic(int n) {
#pragma omp parallel for schedule(auto)
  for (int i = 0; i < n; ++i) values[i]++;
}
// CHECK-DAG: = internal global {{.*}} { i32 1, i32 4, i32 4, i32 0,
// REPORT: "function":"at_run_time"{{.*}}"range"
void at_run_time(int n) {
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < n; ++i) values[i]++;
}
