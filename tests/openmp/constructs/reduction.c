// SPDX-License-Identifier: Apache-2.0
// Reductions with every predefined operator, on every arithmetic type that has it, on parallel, for, sections and with
// nowait, and several at once.
#include "../support/check.h"
#include "../support/everywhere.h"

#include <complex.h>

#define PRAGMA(...) _Pragma(#__VA_ARGS__)

#define SUM(TYPE)                                                                                                      \
  {                                                                                                                    \
    TYPE sum = 3, least = 100, most = 1, product = 1, difference = 120;                                                \
    PRAGMA(omp parallel for num_threads(threads) reduction(+ : sum) reduction(min : least) reduction(max : most)       \
           reduction(* : product) reduction(- : difference))                                                           \
    for (int i = 1; i <= 12; i++)                                                                                      \
    {                                                                                                                  \
      sum += (TYPE)i;                                                                                                  \
      if ((TYPE)i < least) least = (TYPE)i;                                                                            \
      if ((TYPE)i > most) most = (TYPE)i;                                                                              \
      if (i < 5) product *= (TYPE)i;                                                                                   \
      difference -= (TYPE)1;                                                                                           \
    }                                                                                                                  \
    CHECK(sum == (TYPE)81);                                                                                            \
    CHECK(least == (TYPE)1);                                                                                           \
    CHECK(most == (TYPE)12);                                                                                           \
    CHECK(product == (TYPE)24);                                                                                        \
    CHECK(difference == (TYPE)108);                                                                                    \
  }

static void numbers(int threads)
{
  SUM(signed char)
  SUM(unsigned char)
  SUM(short)
  SUM(unsigned short)
  SUM(int)
  SUM(unsigned)
  SUM(long)
  SUM(unsigned long long)
  SUM(float)
  SUM(double)
  SUM(long double)
}

#define BITS(TYPE)                                                                                                     \
  {                                                                                                                    \
    TYPE any = 0, all = (TYPE)~(TYPE)0, odd = 0;                                                                       \
    _Pragma("omp parallel for num_threads(threads) reduction(| : any) reduction(& : all) reduction(^ : odd)")          \
    for (int i = 0; i < 7; i++)                                                                                        \
    {                                                                                                                  \
      any |= (TYPE)(1 << i);                                                                                           \
      all &= (TYPE)~(1 << i);                                                                                          \
      odd ^= (TYPE)(1 << (i % 4));                                                                                     \
    }                                                                                                                  \
    CHECK(any == (TYPE)127);                                                                                           \
    CHECK(all == (TYPE)~(TYPE)127);                                                                                    \
    CHECK(odd == (TYPE)8);                                                                                             \
  }

static void bits(int threads)
{
  BITS(unsigned char)
  BITS(short)
  BITS(int)
  BITS(unsigned)
  BITS(long)
  BITS(unsigned long long)
}

static void logic(int threads)
{
  int every = 1, some = 0, every_not = 1, some_not = 0;
#pragma omp parallel for num_threads(threads) reduction(&& : every, every_not) reduction(|| : some, some_not)
  for (int i = 0; i < 50; i++) {
    every = every && i >= 0;
    some = some || i == 33;
    every_not = every_not && i != 17;
    some_not = some_not || i == 50;
  }
  CHECK_EQ(every, 1);
  CHECK_EQ(some, 1);
  CHECK_EQ(every_not, 0);
  CHECK_EQ(some_not, 0);
}

#ifndef __cplusplus
static void complexes(int threads)
{
  float _Complex narrow = 0;
  double _Complex sum = 1, product = 1;
  long double _Complex wide = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : narrow, sum, wide) reduction(* : product)
  for (int i = 0; i < 8; i++) {
    narrow += 1.0f + 2.0f * I;
    sum += i - i * I;
    wide += 0.5L * I;
    product *= I;
  }
  CHECK(creal(sum) == 29 && cimag(sum) == -28);
  CHECK(crealf(narrow) == 8 && cimagf(narrow) == 16);
  CHECK(creall(wide) == 0 && cimagl(wide) == 4);
  CHECK(creal(product) == 1 && cimag(product) == 0);
}
#endif

static void other_constructs(int threads)
{
  int in_sections = 0, in_nowait = 0, in_region = 0, twice = 0;
  double other = 0;
#pragma omp parallel num_threads(threads) reduction(+ : in_region)
  {
    in_region += omp_get_thread_num() + 1;
#pragma omp sections reduction(+ : in_sections)
    {
#pragma omp section
      in_sections += 1;
#pragma omp section
      in_sections += 10;
#pragma omp section
      in_sections += 100;
    }
    CHECK_EQ(in_sections, 111);
#pragma omp for reduction(+ : in_nowait) nowait schedule(dynamic)
    for (int i = 0; i < 30; i++) in_nowait++;
#pragma omp barrier
    CHECK_EQ(in_nowait, 30);
#pragma omp for reduction(+ : twice, other)
    for (int i = 0; i < 10; i++) twice++, other += 0.5;
#pragma omp for reduction(+ : twice, other) schedule(guided)
    for (int i = 0; i < 10; i++) twice++, other += 0.5;
    CHECK_EQ(twice, 20);
    CHECK_NEAR(other, 10, 0);
  }
  CHECK_EQ(in_region, threads * (threads + 1) / 2);
}

// Reductions of an outer and of inner regions at the same time.
static void levels(int threads)
{
  long total = 0;
#pragma omp parallel num_threads(threads) reduction(+ : total)
  {
    long mine = 0;
#pragma omp parallel for num_threads(3) reduction(+ : mine) schedule(dynamic, 3)
    for (int i = 0; i < 20; i++) mine += i;
    CHECK_EQ(mine, 190);
    total += mine;
  }
  CHECK_EQ(total, 190L * threads);
}

int main(void)
{
  everywhere(numbers, bits, logic);
#ifndef __cplusplus
  everywhere(complexes);
#endif
  everywhere(other_constructs, levels);
  return check_result();
}
