// SPDX-License-Identifier: Apache-2.0
#include "common/report.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void write_string(const char *text)
{
  putchar('"');
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') putchar('\\');
    putchar(*text);
  }
  putchar('"');
}

static int is_runtime(const char *path)
{
  static const char *const names[] = {"libgomp", "libomp", "libiomp5"};
  const char *slash = strrchr(path, '/');
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp(slash ? slash + 1 : path, names[i], strlen(names[i])) == 0) return 1;
  return 0;
}

static void write_runtimes(void)
{
  char line[4608], last[4608] = "";
  int count = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    line[strcspn(line, "\n")] = 0;
    const char *path = strchr(line, '/');
    if (!path || !is_runtime(path) || strcmp(path, last) == 0) continue;
    if (count++) putchar(',');
    write_string(strcpy(last, path));
  }
  if (maps) fclose(maps);
}

static int count_threads(void)
{
  char line[256];
  int threads = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) sscanf(line, "Threads: %d", &threads);
  if (status) fclose(status);
  return threads;
}

void begin_report(void)
{
  printf("{\"runtimes\":[");
  write_runtimes();
  printf("],\"threads\":%d", count_threads());
}

void report_number(const char *name, double value) { printf(",\"%s\":%.9g", name, value); }

void report_text(const char *name, const char *value)
{
  printf(",\"%s\":", name);
  write_string(value);
}

void report_samples(const char *name, const char *unit, const double *samples, int count)
{
  printf(",\"%s\":{\"unit\":\"%s\",\"samples\":[", name, unit);
  for (int i = 0; i < count; i++) printf("%s%.9g", i ? "," : "", samples[i]);
  printf("]}");
}

void end_report(void)
{
  printf("}\n");
  fflush(stdout);
}
