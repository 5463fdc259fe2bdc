// SPDX-License-Identifier: Apache-2.0
// omp_capture_affinity and its relatives: every field by both names, widths, both sides, zeros, and short buffers.
#define _GNU_SOURCE
#include "../support/check.h"

#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

static void expect_text(int line, const char *format, const char *expected)
{
  char text[512];
  size_t length = omp_capture_affinity(text, sizeof text, format);
  if (strcmp(text, expected) != 0 || length != strlen(expected))
    check_failed(__FILE__, line, format, "expected \"%s\", got \"%s\" (%zu)", expected, text, length);
}
#define EXPECT_TEXT(format, expected) expect_text(__LINE__, format, expected)

// What a field says must be what the same field says by its long name, and what a routine says.
static void expect_number(int line, const char *letter, const char *name, long value)
{
  char number[32], formats[2][64];
  snprintf(number, sizeof number, "<%ld>", value);
  snprintf(formats[0], sizeof formats[0], "<%%%s>", letter);
  snprintf(formats[1], sizeof formats[1], "<%%{%s}>", name);
  expect_text(line, formats[0], number);
  expect_text(line, formats[1], number);
}
#define EXPECT_NUMBER(letter, name, value) expect_number(__LINE__, letter, name, value)

static void check_numbers(void)
{
  EXPECT_NUMBER("n", "thread_num", omp_get_thread_num());
  EXPECT_NUMBER("N", "num_threads", omp_get_num_threads());
  EXPECT_NUMBER("L", "nesting_level", omp_get_level());
  EXPECT_NUMBER("a", "ancestor_tnum", omp_get_ancestor_thread_num(omp_get_level() - 1));
  EXPECT_NUMBER("t", "team_num", omp_get_team_num());
  EXPECT_NUMBER("T", "num_teams", omp_get_num_teams());
  EXPECT_NUMBER("P", "process_id", getpid());
}

static void check_widths(void)
{
  EXPECT_TEXT("[%6{thread_num}]", "[0     ]");
  EXPECT_TEXT("[%.6n]", "[     0]");
  EXPECT_TEXT("[%0.6n]", "[000000]");
  EXPECT_TEXT("[%0.4N]", "[0001]");
  EXPECT_TEXT("[%0.4a]", "[-001]");
  EXPECT_TEXT("[%4a]", "[-1  ]");
  EXPECT_TEXT("[%1a]", "[-1]");
  EXPECT_TEXT("100%% %n", "100% 0");
  EXPECT_TEXT("nothing", "nothing");
  EXPECT_TEXT("[%q]", "[undefined]");
  EXPECT_TEXT("[%{thread}]", "[undefined]");
  EXPECT_TEXT("[%.12{nobody}]", "[   undefined]");
}

static void check_buffers(void)
{
  char text[8];
  memset(text, '#', sizeof text);
  CHECK_EQ(omp_capture_affinity(text, 5, "abcdefg"), 7);
  CHECK_EQ(strcmp(text, "abcd"), 0);
  CHECK_EQ(text[5], '#');
  CHECK_EQ(omp_capture_affinity(text, 1, "abc"), 3);
  CHECK_EQ(text[0], '\0');
  text[0] = '#';
  CHECK_EQ(omp_capture_affinity(text, 0, "abc"), 3);
  CHECK_EQ(text[0], '#');
  CHECK_EQ(omp_capture_affinity(NULL, 0, "abc"), 3);
}

static void check_variable(void)
{
  char text[256], kept[256];
  size_t length = omp_get_affinity_format(kept, sizeof kept);
  CHECK_EQ(length, strlen(kept));
  CHECK(length > 0);
  omp_set_affinity_format("member %n of %N");
  CHECK_EQ(omp_get_affinity_format(text, sizeof text), 15);
  CHECK_EQ(strcmp(text, "member %n of %N"), 0);
  CHECK_EQ(omp_get_affinity_format(text, 7), 15);
  CHECK_EQ(strcmp(text, "member"), 0);
  CHECK_EQ(omp_get_affinity_format(NULL, 0), 15);
  EXPECT_TEXT("", "member 0 of 1");
  CHECK_EQ(omp_capture_affinity(text, sizeof text, NULL), 13);
#pragma omp parallel num_threads(3)
  {
    char expected[64];
    snprintf(expected, sizeof expected, "member %d of %d", omp_get_thread_num(), omp_get_num_threads());
    EXPECT_TEXT("", expected);
  }
  omp_set_affinity_format(kept);
}

static void check_places_and_host(void)
{
  char host[256] = "", text[300], cpus[4096];
  gethostname(host, sizeof host - 1);
  snprintf(text, sizeof text, "<%s>", host);
  EXPECT_TEXT("<%H>", text);
  EXPECT_TEXT("<%{host}>", text);
  size_t length = omp_capture_affinity(cpus, sizeof cpus, "%A");
  CHECK(length > 0 && strspn(cpus, "0123456789,-") == length);
  EXPECT_TEXT("%{thread_affinity}", cpus);
  length = omp_capture_affinity(text, sizeof text, "%i");
  CHECK(length > 0);
  EXPECT_TEXT("%{native_thread_id}", text);
}

int main(void)
{
  check_numbers();
  check_widths();
  check_buffers();
  check_variable();
  check_places_and_host();
  omp_set_max_active_levels(3);
#pragma omp parallel num_threads(4)
  {
    check_numbers();
#pragma omp parallel num_threads(2)
    check_numbers();
  }
  return check_result();
}
