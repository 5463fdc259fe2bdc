// SPDX-License-Identifier: Apache-2.0
// Checks for small test programs in C and C++, callable from any thread. A program is silent when all is right;
// else each failed check is one line on stderr, and check_result() makes the exit status 1.
#pragma once

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// A broken runtime fails the same check in every iteration: the first lines tell as much as all of them.
enum { check_lines_printed = 12 };

static int check_failures __attribute__((unused));

// One write(2) a line, so that lines of different members stay whole.
__attribute__((unused, format(printf, 4, 5))) static void check_failed(const char *file, int line, const char *what,
                                                                       const char *format, ...)
{
  if (__atomic_add_fetch(&check_failures, 1, __ATOMIC_RELAXED) > check_lines_printed) return;
  char text[512];
  const char *base = strrchr(file, '/');
  int length = snprintf(text, sizeof text, "%s:%d: %s: ", base ? base + 1 : file, line, what);
  if (length < 0 || length >= (int)sizeof text) length = (int)sizeof text - 1;
  va_list arguments;
  va_start(arguments, format);
  int more = vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
  va_end(arguments);
  if (more > 0) length += more;
  if (length > (int)sizeof text - 2) length = (int)sizeof text - 2;
  text[length++] = '\n';
  if (write(2, text, (size_t)length) < 0) return;
}

__attribute__((unused)) static int check_result(void)
{
  int failures = __atomic_load_n(&check_failures, __ATOMIC_RELAXED);
  if (failures > check_lines_printed) fprintf(stderr, "... %d checks failed in all\n", failures);
  return failures != 0;
}

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) check_failed(__FILE__, __LINE__, #condition, "is false");                                        \
  } while (0)

// Integers of every kind, enumerators and booleans.
#define CHECK_EQ(got, expected)                                                                                        \
  do {                                                                                                                 \
    long long check_got = (long long)(got), check_expected = (long long)(expected);                                    \
    if (check_got != check_expected)                                                                                   \
      check_failed(__FILE__, __LINE__, #got, "expected %lld, got %lld", check_expected, check_got);                    \
  } while (0)

// low <= got < high
#define CHECK_IN(got, low, high)                                                                                       \
  do {                                                                                                                 \
    long long check_got = (long long)(got), check_low = (long long)(low), check_high = (long long)(high);              \
    if (check_got < check_low || check_got >= check_high)                                                              \
      check_failed(__FILE__, __LINE__, #got, "expected from %lld to %lld, got %lld", check_low, check_high - 1,        \
                   check_got);                                                                                         \
  } while (0)

#define CHECK_NEAR(got, expected, tolerance)                                                                           \
  do {                                                                                                                 \
    double check_got = (double)(got), check_expected = (double)(expected);                                             \
    double check_off = check_got > check_expected ? check_got - check_expected : check_expected - check_got;           \
    if (!(check_off <= (double)(tolerance)))                                                                           \
      check_failed(__FILE__, __LINE__, #got, "expected %.17g, got %.17g", check_expected, check_got);                  \
  } while (0)

#define CHECK_PTR(got, expected)                                                                                       \
  do {                                                                                                                 \
    const void *check_got = (const void *)(got), *check_expected = (const void *)(expected);                           \
    if (check_got != check_expected)                                                                                   \
      check_failed(__FILE__, __LINE__, #got, "expected %p, got %p", check_expected, check_got);                        \
  } while (0)

// How often to repeat something: sanitizers slow a program down some twentyfold.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TIMES(n) ((n) / 20 > 0 ? (n) / 20 : 1)
#else
#define TIMES(n) (n)
#endif
