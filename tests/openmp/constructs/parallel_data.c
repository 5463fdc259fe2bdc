// SPDX-License-Identifier: Apache-2.0
// Data-sharing clauses of parallel: shared, private, firstprivate (scalars, arrays, large and aligned structures),
// default(none), more variables than any number of registers holds.
#include "../support/check.h"
#include "../support/everywhere.h"

#include <stdint.h>

struct large {
  int head;
  char body[20000];
  int tail;
};

struct aligned {
  _Alignas(128) double values[32];
};

static void scalars(int threads)
{
  int a = 1, *pointer = &a;
  char b = 2;
  short c = 3;
  long d = 4;
  float e = 5;
  double f = 6;
  long double g = 7;
  unsigned char h = 8;
  int done = 0;
#pragma omp parallel num_threads(threads) default(none) shared(done, check_failures, threads)                          \
    firstprivate(a, b, c, d, e, f, g, h, pointer)
  {
    CHECK_EQ(a + b + c + d, 10);
    CHECK_NEAR(e + f + g + h, 26, 0);
    CHECK(pointer != &a || threads == 1);
    int me = omp_get_thread_num();
    a += me, b = (char)(b + me), c = (short)(c + me), d += me, e += me, f += me, g += me;
#pragma omp barrier
    CHECK_EQ(a, 1 + me);
    CHECK_EQ(d, 4 + me);
    CHECK_NEAR(g, 7 + me, 0);
#pragma omp atomic
    done++;
  }
  CHECK_EQ(done, threads);
  CHECK_EQ(a + b + c + d, 10);
  CHECK_EQ(*pointer, 1);
}

static void privates(int threads)
{
  int scratch = 77;
#pragma omp parallel num_threads(threads) private(scratch)
  {
    scratch = omp_get_thread_num();
#pragma omp barrier
    CHECK_EQ(scratch, omp_get_thread_num());
  }
  CHECK_EQ(scratch, 77);
}

static void arrays(int threads)
{
  int values[1000];
  for (int i = 0; i < 1000; i++) values[i] = i;
#pragma omp parallel num_threads(threads) firstprivate(values)
  {
    int me = omp_get_thread_num();
    for (int i = 0; i < 1000; i++) values[i] += me;
#pragma omp barrier
    for (int i = 0; i < 1000; i++) CHECK_EQ(values[i], i + me);
  }
  for (int i = 0; i < 1000; i++) CHECK_EQ(values[i], i);
}

static void structures(int threads)
{
  struct large large = {0};
  large.head = 11, large.tail = 22, large.body[10000] = 33;
  struct aligned aligned;
  for (int i = 0; i < 32; i++) aligned.values[i] = i;
#pragma omp parallel num_threads(threads) firstprivate(large, aligned)
  {
    int me = omp_get_thread_num();
    CHECK_EQ(large.head + large.body[10000] + large.tail, 66);
    CHECK_EQ((uintptr_t)&aligned % 128, 0);
    CHECK_NEAR(aligned.values[31], 31, 0);
    large.tail = me, aligned.values[7] = me;
#pragma omp barrier
    CHECK_EQ(large.tail, me);
    CHECK_NEAR(aligned.values[7], me, 0);
  }
  CHECK_EQ(large.tail, 22);
}

// Many shared variables: clang passes each as an argument of its own to the outlined function.
static void many_arguments(int threads)
{
  int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, l = 12, m = 13, n = 14, o = 15,
      p = 16, q = 17, r = 18, s = 19, t = 20;
  long total = 0;
#pragma omp parallel num_threads(threads)
  {
    long mine = a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r + s + t;
#pragma omp atomic
    total += mine;
  }
  CHECK_EQ(total, 210L * threads);
#pragma omp parallel num_threads(threads)
  {
#pragma omp master
    a++, b++, c++, d++, e++, f++, g++, h++, i++, j++, k++, l++, m++, n++, o++, p++, q++, r++, s++, t++;
  }
  CHECK_EQ(a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r + s + t, 230);
}

static void variable_length(int threads)
{
  int length = 50 + threads;
#ifndef __cplusplus
  double values[length];
#else
  double values[most_members + 50];
#endif
  for (int i = 0; i < length; i++) values[i] = i;
#pragma omp parallel num_threads(threads) shared(values)
  {
    int me = omp_get_thread_num();
    values[me] += 0.5;
    CHECK_NEAR(values[length - 1], length - 1, 0);
  }
  for (int i = 0; i < length; i++) CHECK_NEAR(values[i], i < threads ? i + 0.5 : i, 0);
}

int main(void)
{
  everywhere(scalars, privates, arrays, structures, many_arguments, variable_length);
  return check_result();
}
