// SPDX-License-Identifier: Apache-2.0
#include "common/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int count_threads(void) {
  char line[256];
  int threads = 0;
  FILE* status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) sscanf(line, "Threads: %d", &threads);
  if (status) fclose(status);
  return threads;
}

void report_to(const char* path) {
  if (strcmp(path, "-") == 0 || freopen(path, "w", stdout)) return;
  perror(path);
  exit(1);
}

static void write_string(const char* text) {
  putchar('"');
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') putchar('\\');
    putchar(*text);
  }
  putchar('"');
}

// Mapped libraries whose file name begins with one of `names`, a list that ends with null.
static void write_mapped(const char* const* names) {
  char line[4608], last[4608] = "";
  int count = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    line[strcspn(line, "\n")] = 0;
    const char* path = strchr(line, '/');
    if (!path || strcmp(path, last) == 0) continue;
    const char* file = strrchr(path, '/') + 1;
    for (const char* const* name = names; *name; name++) {
      if (strncmp(file, *name, strlen(*name)) != 0) continue;
      if (count++) putchar(',');
      write_string(strcpy(last, path));
      break;
    }
  }
  if (maps) fclose(maps);
}

void begin_report(void) {
  printf("{\"runtimes\":[");
  write_mapped((const char* const[]){"libgomp", "libomp", "libiomp5", NULL});
  printf("],\"blas\":[");
  write_mapped((const char* const[]){"libopenblas", "libblas", NULL});
  printf("],\"threads\":%d", count_threads());
}

static void write_number(double value) {
  if (isfinite(value))
    printf("%.9g", value);
  else
    printf("null");
}

void report_number(const char* name, double value) {
  printf(",\"%s\":", name);
  write_number(value);
}

void report_text(const char* name, const char* value) {
  printf(",\"%s\":", name);
  write_string(value);
}

void report_samples(const char* name, const char* unit, const double* samples, int count) {
  printf(",\"%s\":{\"unit\":\"%s\",\"samples\":[", name, unit);
  for (int i = 0; i < count; i++) {
    if (i) putchar(',');
    write_number(samples[i]);
  }
  printf("]}");
}

void end_report(void) {
  printf("}\n");
  if (fflush(stdout) == 0) return;
  perror("report");
  exit(1);
}
