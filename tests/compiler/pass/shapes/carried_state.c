// SPDX-License-Identifier: Apache-2.0
// Flag 1, an ascending order within each member, for loops of a static schedule whose iterations find in private
// variables what earlier ones have left there; and not for others. The records come in the order of the functions.
static double values[64];
void fill(double *);

// CHECK: @weft_loop = {{.*}} { i32 1, i32 5, i32 0,
// REPORT: "function":"private_variable"{{.*}}"range"
void private_variable(int n) {
#pragma omp parallel
  {
    int last = -1;
#pragma omp for schedule(static)
    for (int i = 0; i < n; ++i) {
      if (last > i) values[i] = 0;
      last = i;
    }
  }
}
// CHECK: @weft_loop.{{[0-9]+}} = {{.*}} { i32 1, i32 5, i32 0,
// REPORT: "function":"firstprivate_variable"{{.*}}"range"
void firstprivate_variable(int n, double x) {
#pragma omp parallel for firstprivate(x)
  for (int i = 0; i < n; ++i) values[i] = x++;
}
// CHECK: @weft_loop.{{[0-9]+}} = {{.*}} { i32 1, i32 5, i32 0,
// REPORT: "function":"private_array"{{.*}}"range"
void private_array(int n) {
  double buffer[8];
#pragma omp parallel for private(buffer)
  for (int i = 0; i < n; ++i) {
    fill(buffer);
    values[i] = buffer[0];
  }
}
// CHECK: @weft_loop.{{[0-9]+}} = {{.*}} { i32 1, i32 5, i32 4,
// REPORT: "function":"at_run_time"{{.*}}"range"
void at_run_time(int n, double x) {
#pragma omp parallel for firstprivate(x) schedule(runtime)
  for (int i = 0; i < n; ++i) values[i] = x++;
}
// CHECK: @weft_loop.{{[0-9]+}} = {{.*}} { i32 1, i32 4, i32 4,
// REPORT: "function":"at_run_time_unchanged"{{.*}}"range"
void at_run_time_unchanged(int n, double x) {
#pragma omp parallel for firstprivate(x) schedule(runtime)
  for (int i = 0; i < n; ++i) values[i] = x;
}
// CHECK: @weft_loop.{{[0-9]+}} = {{.*}} { i32 1, i32 4, i32 0,
// REPORT: "function":"reduction"{{.*}}"range"
double reduction(int n) {
  double sum = 0, most = 0;
#pragma omp parallel for reduction(+ : sum) reduction(max : most)
  for (int i = 0; i < n; ++i) {
    sum += values[i];
    if (values[i] > most) most = values[i];
  }
  return sum + most;
}
// CHECK: @weft_loop.{{[0-9]+}} = {{.*}} { i32 1, i32 4, i32 0,
// REPORT: "function":"written_first"{{.*}}"range"
void written_first(int n) {
  double sum;
  int j;
#pragma omp parallel for private(sum, j)
  for (int i = 0; i < n; ++i) {
    sum = 0;
    for (j = 0; j < n; ++j) sum += j;
    values[i] = sum;
  }
}
// CHECK: @weft_loop.{{[0-9]+}} = {{.*}} { i32 1, i32 6, i32 0,
// REPORT: "function":"lastprivate_variable"{{.*}}"range"
int lastprivate_variable(int n) {
  int last = 0;
#pragma omp parallel for lastprivate(last)
  for (int i = 0; i < n; ++i) values[last = i] = i;
  return last;
}
// CHECK: @weft_loop.{{[0-9]+}} = {{.*}} { i32 1, i32 4, i32 0,
// REPORT: "function":"variables_of_an_iteration"{{.*}}"range"
void variables_of_an_iteration(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    double fixed[4], sized[i + 1];
    fill(fixed);
    fill(sized);
    values[i] = fixed[0] + sized[0];
  }
}
// The inner region's comes first.
// CHECK: @weft_loop.{{[0-9]+}} = {{.*}} { i32 1, i32 4, i32 0,
// CHECK: @weft_loop.{{[0-9]+}} = {{.*}} { i32 1, i32 4, i32 0,
// REPORT: "function":"nested"{{.*}}"range"
void nested(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
#pragma omp parallel for
    for (int j = 0; j < n; ++j) values[j] += i;
  }
}
// CHECK: @weft_loop.{{[0-9]+}} = {{.*}} { i32 1, i32 4, i32 0,
// REPORT: "function":"tasks"{{.*}}"range"
void tasks(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
#pragma omp task
    values[i] += i;
  }
}
