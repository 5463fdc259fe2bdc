// SPDX-License-Identifier: Apache-2.0
// Regions that are not one loop, or whose members meet.
static int values[64];

// CHECK-NOT: weft_parallel_for(
// REPORT: "function":"two_loops"{{.*}}"none","reason":"several worksharing loops"
void two_loops(int n) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) values[i]++;
#pragma omp for
    for (int i = 0; i < n; ++i) values[i]--;
  }
}
// REPORT: "function":"repeated"{{.*}}"none","reason":"the region may run its loop several times"
void repeated(int n) {
#pragma omp parallel
  for (int k = 0; k < 3; ++k) {
#pragma omp for
    for (int i = 0; i < n; ++i) values[i]++;
  }
}
// REPORT: "construct":"parallel"{{.*}}"function":"no_loop"{{.*}}"none","reason":"no worksharing loop"
void no_loop(void) {
#pragma omp parallel
  values[0] = 1;
}
// REPORT: "function":"in_order"{{.*}}"hint","reason":"ordered"
void in_order(int n) {
#pragma omp parallel for ordered
  for (int i = 0; i < n; ++i) {
#pragma omp ordered
    values[i]++;
  }
}
// REPORT: "function":"cancelled"{{.*}}"hint","reason":"calls __kmpc_cancel"
void cancelled(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
#pragma omp cancel for if (values[i])
    values[i]++;
  }
}
// REPORT: "function":"first_and_last"{{.*}}"hint","reason":"a barrier before the loop's end"
int first_and_last(int n, int value) {
#pragma omp parallel for firstprivate(value) lastprivate(value)
  for (int i = 0; i < n; ++i) value = values[i];
  return value;
}
// REPORT: "function":"barrier_first"{{.*}}"hint","reason":"a barrier before the loop's end"
void barrier_first(int n) {
#pragma omp parallel
  {
#pragma omp barrier
#pragma omp for
    for (int i = 0; i < n; ++i) values[i]++;
  }
}
// REPORT: "function":"published"{{.*}}"hint","reason":"others may use a private variable up to the loop's barrier"
void published(int n, int **where) {
#pragma omp parallel
  {
    int mine[4];
#pragma omp for
    for (int i = 0; i < n; ++i) where[i] = mine;
  }
}
// REPORT: "function":"single_behind"{{.*}}"hint","reason":"calls __kmpc_single"
void single_behind(int n) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; ++i) values[i]++;
#pragma omp single
    values[0] = 0;
  }
}
// REPORT: "function":"chunks_of_static"{{.*}}"hint","reason":"schedule(static, chunk) says which member runs what"
void chunks_of_static(int n) {
#pragma omp parallel for schedule(static, 4)
  for (int i = 0; i < n; ++i) values[i]++;
}
// With debug information it stays in a function of its own.
// REPORT: "function":"labels"{{.*}}"none","reason":"{{the addresses of its labels are taken|no worksharing loop}}"
void labels(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    static void *const targets[] = {&&even, &&odd};
    goto *targets[i % 2];
  even:
    values[i]++;
    continue;
  odd:
    values[i]--;
  }
}
