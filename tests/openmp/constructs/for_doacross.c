// SPDX-License-Identifier: Apache-2.0
// Doacross loops: chains, wavefronts in two and three dimensions, every schedule, unsigned and descending loops.
#include "../support/check.h"
#include "../support/everywhere.h"

enum { n = 60 };

#define PRAGMA(text) _Pragma(#text)
#define CHAIN(...)                                               \
  {                                                              \
    long values[n + 1];                                          \
    memset(values, 0, sizeof values);                            \
    PRAGMA(omp parallel for ordered(1) num_threads(threads) __VA_ARGS__) \
    for (int i = 1; i <= n; i++) {                               \
      _Pragma("omp ordered depend(sink : i - 1)")                \
      values[i] = values[i - 1] + i;                             \
      _Pragma("omp ordered depend(source)")                      \
    }                                                            \
    CHECK_EQ(values[n], (long)n * (n + 1) / 2);                  \
  }

static void chain(int threads)
{
  CHAIN();
  CHAIN(schedule(static, 1));
  CHAIN(schedule(static, 4));
  CHAIN(schedule(dynamic));
  CHAIN(schedule(dynamic, 3));
  CHAIN(schedule(guided));
  CHAIN(schedule(runtime));
}

// More loops than any program has, all but one of a single iteration. (Under libgomp 12 it hangs.)
#define ONCE(i) for (int i = 0; i < 1; i++)
static void deep_nest(int threads)
{
  int passed = 0;
#pragma omp parallel for ordered(20) schedule(static, 1) num_threads(threads)
  for (int i = 0; i < 30; i++)
    ONCE(b) ONCE(c) ONCE(d) ONCE(e) ONCE(f) ONCE(g) ONCE(h) ONCE(k) ONCE(l) ONCE(m) ONCE(o) ONCE(p) ONCE(q) ONCE(r)
      ONCE(s) ONCE(t) ONCE(u) ONCE(v) ONCE(w) {
#pragma omp ordered depend(sink : i - 1, b, c, d, e, f, g, h, k, l, m, o, p, q, r, s, t, u, v, w)
        CHECK_EQ(passed, i);
        passed++;
#pragma omp ordered depend(source)
      }
  CHECK_EQ(passed, 30);
}

static void wavefront(int threads)
{
  long grid[20][30];
  memset(grid, 0, sizeof grid);
#pragma omp parallel for ordered(2) schedule(dynamic) num_threads(threads)
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 30; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
      grid[i][j] = i && j ? grid[i - 1][j] + grid[i][j - 1] : 1;
#pragma omp ordered depend(source)
    }
  long expected[20][30];
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 30; j++) expected[i][j] = i && j ? expected[i - 1][j] + expected[i][j - 1] : 1;
  CHECK(memcmp(grid, expected, sizeof grid) == 0);
}

static void collapsed(int threads)
{
  int cube[6][7][8], wrong = 0;
  memset(cube, 0, sizeof cube);
#pragma omp parallel for collapse(2) ordered(3) schedule(static, 1) num_threads(threads) reduction(+ : wrong)
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 7; j++)
      for (int k = 0; k < 8; k++) {
#pragma omp ordered depend(sink : i - 1, j, k) depend(sink : i, j - 1, k)
        int before_i = 1, before_j = 1;
        if (i) {
#pragma omp atomic read
          before_i = cube[i - 1][j][k];
        }
        if (j) {
#pragma omp atomic read
          before_j = cube[i][j - 1][k];
        }
        wrong += !before_i || !before_j;
#pragma omp atomic write
        cube[i][j][k] = 1;
#pragma omp ordered depend(source)
      }
  CHECK_EQ(wrong, 0);
}

static void other_types(int threads)
{
  long values[n];
  memset(values, 0, sizeof values);
#pragma omp parallel for ordered(1) schedule(dynamic) num_threads(threads)
  for (unsigned long long i = 10; i < 10 + 3ull * n; i += 3) {
#pragma omp ordered depend(sink : i - 3)
    const unsigned long long at = (i - 10) / 3;
    values[at] = at ? values[at - 1] + 2 : 2;
#pragma omp ordered depend(source)
  }
  CHECK_EQ(values[n - 1], 2 * n);

  memset(values, 0, sizeof values);
#pragma omp parallel for ordered(1) num_threads(threads)
  for (int i = n - 1; i >= 0; i--) {
#pragma omp ordered depend(sink : i + 1)
    values[i] = i < n - 1 ? values[i + 1] + 1 : 1;
#pragma omp ordered depend(source)
  }
  CHECK_EQ(values[0], n);
}

// Several loops in one region, some nowait.
static void in_a_row(int threads)
{
  long values[n];
  memset(values, 0, sizeof values);
#pragma omp parallel num_threads(threads)
  for (int round = 1; round <= 10; round++) {
#pragma omp for ordered(1) schedule(dynamic)
    for (int i = 0; i < n; i++) {
#pragma omp ordered depend(sink : i - 1)
      values[i] = i ? values[i - 1] + 1 : round;
#pragma omp ordered depend(source)
    }
  }
  CHECK_EQ(values[n - 1], 10 + n - 1);
}

// Loops without iterations: nobody posts, nobody waits.
static void empty(int threads)
{
  volatile int none = 0, some = 7;
  int seen = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for ordered(2)
    for (int i = 0; i < none; i++) {
      for (int k = 0; k < some; k++) {
#pragma omp ordered depend(sink : i - 1, k)
        seen = 1;
#pragma omp ordered depend(source)
      }
    }
#pragma omp for ordered(2)
    for (int i = 0; i < some; i++) {
      for (int k = 0; k < none; k++) {
#pragma omp ordered depend(sink : i - 1, k)
        seen = 1;
#pragma omp ordered depend(source)
      }
    }
  }
  CHECK_EQ(seen, 0);
}

int main(void)
{
  everywhere(chain, deep_nest, wavefront, collapsed, other_types, in_a_row, empty);
  return check_result();
}
