// SPDX-License-Identifier: Apache-2.0
// atomic: read, write, update and capture on the arithmetic types, those included that no instruction handles
// (long double), for which gcc calls the runtime.
#include "../support/check.h"
#include "../support/everywhere.h"

#define COUNT(TYPE)                                                                                                    \
  {                                                                                                                    \
    TYPE value = 0, up = 0;                                                                                            \
    _Pragma("omp parallel num_threads(threads)") for (int i = 0; i < 6; i++)                                           \
    {                                                                                                                  \
      _Pragma("omp atomic") value++;                                                                                   \
      _Pragma("omp atomic update") up += (TYPE)1;                                                                      \
      TYPE got;                                                                                                        \
      _Pragma("omp atomic read") got = value;                                                                          \
      CHECK(got >= 1 || (sizeof(TYPE) == 1 && 6 * threads > 255));                                                     \
    }                                                                                                                  \
    CHECK(value == (TYPE)(6 * threads));                                                                               \
    CHECK(up == (TYPE)(6 * threads));                                                                                  \
  }

static void types(int threads)
{
  COUNT(unsigned char)
  COUNT(short)
  COUNT(unsigned short)
  COUNT(int)
  COUNT(unsigned)
  COUNT(long)
  COUNT(unsigned long long)
  COUNT(float)
  COUNT(double)
  COUNT(long double)
}

static void operators(int threads)
{
  int bits = 0, inverted = -1, toggled = 0, product = 1, shifted = 1 << 20, difference = 1000;
  long double quotient = 1;
  double reversed = 0;
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num();
#pragma omp atomic
    bits |= 1 << (me % 16);
#pragma omp atomic
    inverted &= ~(1 << (me % 16));
#pragma omp atomic
    toggled ^= 1;
#pragma omp atomic
    difference -= 2;
#pragma omp atomic
    quotient /= 2;
#pragma omp atomic
    reversed = me - reversed;
    if (me < 4) {
#pragma omp atomic
      product *= 3;
#pragma omp atomic
      shifted >>= 1;
    }
  }
  int few = threads < 16 ? threads : 16, four = threads < 4 ? threads : 4;
  CHECK_EQ(bits, (1 << few) - 1);
  CHECK_EQ(inverted, ~((1 << few) - 1));
  CHECK_EQ(toggled, threads % 2);
  CHECK_EQ(difference, 1000 - 2 * threads);
  long double expected = 1;
  for (int i = 0; i < threads; i++) expected /= 2;
  CHECK(quotient == expected);
  int power = 1;
  for (int i = 0; i < four; i++) power *= 3;
  CHECK_EQ(product, power);
  CHECK_EQ(shifted, (1 << 20) >> four);
}

// Each captured value is handed out once.
static void captures(int threads)
{
  int next = 0, taken[most_members * 10] = {0};
  long double wide = 0;
  int taken_wide[most_members * 10] = {0};
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < 10; i++) {
    int mine;
#pragma omp atomic capture
    mine = next++;
    taken[mine]++;
    long double wide_mine;
#pragma omp atomic capture
    {
      wide_mine = wide;
      wide += 1;
    }
    taken_wide[(int)wide_mine]++;
  }
  for (int i = 0; i < 10 * threads; i++) {
    CHECK_EQ(taken[i], 1);
    CHECK_EQ(taken_wide[i], 1);
  }
}

static void exchanges(int threads)
{
  int token = -1, sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
  {
    int old;
#pragma omp atomic capture
    {
      old = token;
      token = omp_get_thread_num();
    }
    sum += old;
  }
  sum += token;  // every number was put in once and taken out once
  CHECK_EQ(sum, threads * (threads - 1) / 2 - 1);
}

static void ordered_accesses(int threads)
{
  int data = 0, flag = 0, seen = 0;
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == 0) {
      data = 42;
#pragma omp atomic write release
      flag = 1;
    } else {
      int ready;
      do {
#pragma omp atomic read acquire
        ready = flag;
        if (!ready) usleep(100);
      } while (!ready);
      CHECK_EQ(data, 42);
#pragma omp atomic seq_cst
      seen++;
    }
  }
  CHECK_EQ(seen, threads - 1);
}

int main(void)
{
  everywhere(types, operators, captures, exchanges, ordered_accesses);
  return check_result();
}
