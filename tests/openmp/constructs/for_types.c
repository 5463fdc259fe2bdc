// SPDX-License-Identifier: Apache-2.0
// Loop variables of every integer kind, all relations, positive and negative steps, bounds at the ends of the type, under
// every schedule. The same loop run sequentially says what is right.
#include "../support/check.h"
#include "../support/everywhere.h"

#include <limits.h>

struct sum {
  unsigned long long count, total, squares;
};

static void add(struct sum *sum, unsigned long long i)
{
  sum->count++;
  sum->total += i;
  sum->squares += i * i * 31 + (i >> 7);
}

static void merge(struct sum *into, const struct sum *from)
{
#pragma omp atomic
  into->count += from->count;
#pragma omp atomic
  into->total += from->total;
#pragma omp atomic
  into->squares += from->squares;
}

static void check_same(const char *loop, const struct sum *got, const struct sum *expected)
{
  if (got->count != expected->count || got->total != expected->total || got->squares != expected->squares)
    check_failed(__FILE__, __LINE__, loop, "expected %llu iterations of sum %llu, got %llu of sum %llu",
                 expected->count, expected->total, got->count, got->total);
}

#define PRAGMA(TEXT) _Pragma(#TEXT)

#define ONE(TYPE, INIT, TEST, STEP, CLAUSE)                                                                            \
  {                                                                                                                    \
    struct sum all = {0, 0, 0};                                                                                        \
    _Pragma("omp parallel num_threads(threads)")                                                                       \
    {                                                                                                                  \
      struct sum mine = {0, 0, 0};                                                                                     \
      PRAGMA(omp for schedule CLAUSE nowait)                                                                           \
      for (TYPE i = INIT; TEST; STEP) add(&mine, (unsigned long long)i);                                               \
      merge(&all, &mine);                                                                                              \
    }                                                                                                                  \
    check_same(#TYPE ": " #INIT "; " #TEST "; " #STEP "; " #CLAUSE, &all, &expected);                                  \
  }

#define SCHEDULES(TYPE, INIT, TEST, STEP)                                                                              \
  ONE(TYPE, INIT, TEST, STEP, (static))                                                                                \
  ONE(TYPE, INIT, TEST, STEP, (dynamic))                                                                               \
  ONE(TYPE, INIT, TEST, STEP, (dynamic, 5))                                                                            \
  ONE(TYPE, INIT, TEST, STEP, (dynamic, 1000000000))                                                                   \
  ONE(TYPE, INIT, TEST, STEP, (guided))                                                                                \
  ONE(TYPE, INIT, TEST, STEP, (guided, 4))                                                                             \
  ONE(TYPE, INIT, TEST, STEP, (monotonic : dynamic, 2))                                                                \
  ONE(TYPE, INIT, TEST, STEP, (runtime))

#define LOOP(TYPE, INIT, TEST, STEP)                                                                                   \
  {                                                                                                                    \
    struct sum expected = {0, 0, 0};                                                                                   \
    for (TYPE i = INIT; TEST; STEP) add(&expected, (unsigned long long)i);                                             \
    SCHEDULES(TYPE, INIT, TEST, STEP)                                                                                  \
    ONE(TYPE, INIT, TEST, STEP, (static, 3))                                                                           \
  }

// gcc computes counts and strides of a narrow type in that type, so that 128 iterations, or a static chunk times the
// members, already go wrong in the compiler.
#define NARROW(TYPE, INIT, TEST, STEP)                                                                                 \
  {                                                                                                                    \
    struct sum expected = {0, 0, 0};                                                                                   \
    for (TYPE i = INIT; TEST; STEP) add(&expected, (unsigned long long)i);                                             \
    SCHEDULES(TYPE, INIT, TEST, STEP)                                                                                  \
  }

static void narrow(int threads)
{
  volatile int zero = 0;
  // Nor does it count more members in that type.
  if (threads > SCHAR_MAX) threads = SCHAR_MAX;
  NARROW(signed char, (signed char)(-100 + zero), i < 20, i++)
  NARROW(signed char, 60, i >= -60, i -= 3)
  NARROW(unsigned char, (unsigned char)zero, i < 240, i += 7)
  NARROW(short, (short)(SHRT_MIN + zero), i < SHRT_MIN + 500, i++)
  NARROW(unsigned short, 65000, i < 65534, i += 2)
  NARROW(signed char, 10, i > 3, i--)
}

static void words(int threads)
{
  volatile int zero = 0;
  LOOP(int, zero, i < 1000, i++)
  LOOP(int, 1000 + zero, i > 0, i--)
  LOOP(int, 5, i <= 5, i++)
  LOOP(int, -7, i >= -700, i -= 7)
  LOOP(int, INT_MAX - 100 + zero, i < INT_MAX, i++)
  LOOP(int, INT_MIN + 100 + zero, i > INT_MIN, i--)
  LOOP(unsigned, (unsigned)zero, i < 1000, i++)
  LOOP(unsigned, UINT_MAX - 100 + (unsigned)zero, i < UINT_MAX, i++)
  LOOP(unsigned, (unsigned)zero, i < UINT_MAX - 30000000u, i += 30000000u)
#ifdef __clang__  // gcc 12 counts the first in int, and passes the steps of the others on as positive numbers
  LOOP(int, INT_MIN, i < INT_MAX - 20000000, i += 20000000)
  LOOP(unsigned, 1000, i > 6, i -= 7)
  LOOP(unsigned, UINT_MAX, i >= 40000000u, i -= 30000000u)
#endif
}

static void double_words(int threads)
{
  volatile int zero = 0;
  LOOP(long, zero, i < 1000, i++)
  LOOP(long, LONG_MAX - 300 + zero, i < LONG_MAX, i++)
  LOOP(long, LONG_MIN + 300 + zero, i > LONG_MIN, i--)
  LOOP(long, LONG_MAX - 3000, i <= LONG_MAX - 7, i += 7)
  LOOP(unsigned long, ULONG_MAX - 300 + (unsigned long)zero, i < ULONG_MAX, i++)
  LOOP(unsigned long, 5000, i > 12, i -= 13)
  LOOP(long long, LLONG_MAX - 300, i < LLONG_MAX, i++)
  LOOP(long long, -300 + zero, i <= 300, i += 2)
  LOOP(long long, 1LL << 40, i >= -(1LL << 40), i -= 1LL << 32)
  LOOP(unsigned long long, ULLONG_MAX - 300, i < ULLONG_MAX, i++)
  LOOP(unsigned long long, ULLONG_MAX, i > ULLONG_MAX - 300, i--)
  LOOP(unsigned long long, (unsigned long long)zero, i < ULLONG_MAX - (ULLONG_MAX / 500), i += ULLONG_MAX / 500)
  LOOP(unsigned long long, 300, i > 0, i--)
}

static void empty(int threads)
{
  volatile int zero = 0;
  LOOP(int, zero, i < zero, i++)
  LOOP(int, 10 + zero, i < 5, i++)
  LOOP(int, zero, i > 5, i--)
  LOOP(unsigned, 10u + (unsigned)zero, i < 5, i++)
  LOOP(long, zero, i < LONG_MIN + zero, i++)
  LOOP(unsigned long long, 7 + (unsigned long long)zero, i < 7, i += 100)
  LOOP(unsigned long long, ULLONG_MAX, i < (unsigned long long)zero, i++)
}

static void pointers(int threads)
{
  char text[500];
  memset(text, 0, sizeof text);
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(dynamic, 7)
    for (char *p = text; p < text + 500; p++) ++*p;
#pragma omp for schedule(static)
    for (char *p = text + 499; p >= text; p -= 1) ++*p;
#pragma omp for schedule(guided)
    for (char *p = text; p != text + 500; p++) ++*p;
  }
  for (int i = 0; i < 500; i++) CHECK_EQ(text[i], 3);
}

int main(void)
{
  everywhere(narrow, words, double_words, empty, pointers);
  return check_result();
}
