// SPDX-License-Identifier: Apache-2.0
// Nested BLAS: a parallel loop over BLAS calls, which are parallel themselves. Sizes from .. to, one iteration each, so
// that the iterations are unequal and, the largest being last, the loop has a tail.
#include <getopt.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/report.h"
#include "nested_blas/blas_case.h"
#include "nested_blas/thread_watch.h"

extern void openblas_set_num_threads(int threads);
extern char* openblas_get_config(void);

typedef struct {
  blas_kind kind;
  int from, to, step;
  int out, in;  // 0: leave it to the runtime
  int repeat, check;
  omp_sched_t schedule;
  char schedule_name[16];
  const char* json;  // where the result goes
} settings;

static const char* const help =
    "nested_blas [--routine gemm|symm|hemm|trsm|syrk] [--type s|d|c|z] [--from N] [--to N] [--step N]\n"
    "            [--out THREADS] [--in THREADS] [--schedule static|dynamic|guided] [--side L|R] [--uplo U|L]\n"
    "            [--trans N|T] [--diag N|U] [--repeat N] [--check] [--json FILE|-]\n"
    "--out 0 and --in 0 leave the numbers to the runtime. --check compares the results of the last repeat with those "
    "of\n"
    "one thread. The result is one JSON object, on stdout by default.\n";

static void fail(const char* what) {
  fprintf(stderr, "nested_blas: %s\n", what);
  exit(2);
}

static int number(const char* text, int least, const char* name) {
  char* end;
  const long value = strtol(text, &end, 10);
  if (*end || value < least || value > 1000000) {
    fprintf(stderr, "nested_blas: --%s %s: a number from %d is wanted\n", name, text, least);
    exit(2);
  }
  return (int)value;
}

static void parse(int count, char** arguments, settings* s) {
  static const struct option options[] = {
      {"routine", 1, 0, 'r'}, {"type", 1, 0, 't'}, {"from", 1, 0, 'f'},     {"to", 1, 0, 'o'},    {"step", 1, 0, 's'},
      {"out", 1, 0, 'O'},     {"in", 1, 0, 'I'},   {"schedule", 1, 0, 'S'}, {"side", 1, 0, 'd'},  {"uplo", 1, 0, 'u'},
      {"trans", 1, 0, 'n'},   {"diag", 1, 0, 'g'}, {"repeat", 1, 0, 'R'},   {"check", 0, 0, 'c'}, {"json", 1, 0, 'j'},
      {"help", 0, 0, 'h'},    {0, 0, 0, 0}};
  int option, index = 0;
  while ((option = getopt_long(count, arguments, "", options, &index)) != -1) {
    const char* name = options[index].name;
    switch (option) {
      case 'r': snprintf(s->kind.routine, sizeof s->kind.routine, "%s", optarg); break;
      case 't': s->kind.type = optarg[0]; break;
      case 'f': s->from = number(optarg, 1, name); break;
      case 'o': s->to = number(optarg, 1, name); break;
      case 's': s->step = number(optarg, 1, name); break;
      case 'O': s->out = number(optarg, 0, name); break;
      case 'I': s->in = number(optarg, 0, name); break;
      case 'S': snprintf(s->schedule_name, sizeof s->schedule_name, "%s", optarg); break;
      case 'd': s->kind.side = optarg[0]; break;
      case 'u': s->kind.uplo = optarg[0]; break;
      case 'n': s->kind.trans = optarg[0]; break;
      case 'g': s->kind.diag = optarg[0]; break;
      case 'R': s->repeat = number(optarg, 1, name); break;
      case 'c': s->check = 1; break;
      case 'j': s->json = optarg; break;
      case 'h': fputs(help, stdout); exit(0);
      default: exit(2);
    }
  }
  if (optind < count) fail("options only; see --help");
  const char* error = blas_kind_error(&s->kind);
  if (error) fail(error);
  if (s->from > s->to) fail("--from is above --to");
  if (strcmp(s->schedule_name, "static") == 0)
    s->schedule = omp_sched_static;
  else if (strcmp(s->schedule_name, "dynamic") == 0)
    s->schedule = omp_sched_dynamic;
  else if (strcmp(s->schedule_name, "guided") == 0)
    s->schedule = omp_sched_guided;
  else
    fail("--schedule is static, dynamic or guided");
}

// The measured region. What OpenBLAS takes for its number of threads inside was said by the initial thread before, as
// the source paper did: members inherit it.
static double run(const settings* s, blas_case* cases, int count) {
  const double start = now();
  if (s->out > 0) {
#pragma omp parallel for num_threads(s->out) schedule(runtime)
    for (int i = 0; i < count; i++) blas_call(&s->kind, &cases[i]);
  } else {
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < count; i++) blas_call(&s->kind, &cases[i]);
  }
  return now() - start;
}

static double check(const settings* s, blas_case* cases, int count) {
  double worst = 0;
  openblas_set_num_threads(1);
  for (int i = 0; i < count; i++) {
    blas_case reference;
    blas_prepare(&s->kind, &reference, cases[i].n);
    blas_call(&s->kind, &reference);
    const double difference = blas_difference(&s->kind, &cases[i], &reference) / blas_tolerance(&s->kind, cases[i].n);
    if (!(difference <= worst)) worst = difference;
    blas_release(&reference);
  }
  return worst;
}

static int by_value(const void* left, const void* right) {
  const double l = *(const double*)left, r = *(const double*)right;
  return (l > r) - (l < r);
}

static double median(const double* samples, int count) {
  double* ordered = malloc((size_t)count * sizeof *ordered);
  if (!ordered) fail("no memory");
  memcpy(ordered, samples, (size_t)count * sizeof *ordered);
  qsort(ordered, (size_t)count, sizeof *ordered, by_value);
  const double middle = 0.5 * (ordered[(count - 1) / 2] + ordered[count / 2]);
  free(ordered);
  return middle;
}

static void report_settings(const settings* s) {
  report_text("benchmark", "nested_blas");
  report_text("routine", s->kind.routine);
  report_text("type", (char[]){s->kind.type, 0});
  report_number("from", s->from);
  report_number("to", s->to);
  report_number("step", s->step);
  report_number("out", s->out);
  report_number("in", s->in);
  report_text("schedule", s->schedule_name);
  report_text("side", (char[]){s->kind.side, 0});
  report_text("uplo", (char[]){s->kind.uplo, 0});
  report_text("trans", (char[]){s->kind.trans, 0});
  report_text("diag", (char[]){s->kind.diag, 0});
  report_number("repeat", s->repeat);
  report_text("openblas", openblas_get_config());
}

int main(int argument_count, char** arguments) {
  settings s = {.kind = {"gemm", 'd', 'L', 'U', 'N', 'N'},
                .from = 200,
                .to = 600,
                .step = 50,
                .repeat = 5,
                .schedule_name = "dynamic",
                .json = "-"};
  parse(argument_count, arguments, &s);
  // Peers switch nested regions off by default; the comparison is with them at their best.
  omp_set_max_active_levels(2);
  omp_set_schedule(s.schedule, s.schedule == omp_sched_static ? 0 : 1);
  // Said by the initial thread: the number the library believes in. 0: nothing is said, that is the untuned program.
  if (s.in > 0) {
    openblas_set_num_threads(s.in);
    omp_set_num_threads(s.in);
  }

  const int count = (s.to - s.from) / s.step + 1;
  blas_case* cases = calloc((size_t)count, sizeof *cases);
  double operations = 0, *seconds = calloc((size_t)s.repeat, sizeof *seconds);
  if (!cases || !seconds) fail("no memory");
  for (int i = 0; i < count; i++) {
    const int n = s.from + i * s.step;
    blas_prepare(&s.kind, &cases[i], n);
    operations += blas_operations(&s.kind, n);
  }
  // A first run, not timed, makes the threads.
  thread_watch* watch = watch_threads();
  run(&s, cases, count);
  const int peak_threads = end_watch(watch);
  for (int r = 0; r < s.repeat; r++) {
    for (int i = 0; i < count; i++) blas_reset(&s.kind, &cases[i]);
    seconds[r] = run(&s, cases, count);
  }

  report_to(s.json);
  begin_report();
  report_settings(&s);
  report_number("operations", operations);
  report_samples("time", "s", seconds, s.repeat);
  report_number("gflops", 1e-9 * operations / median(seconds, s.repeat));
  report_number("peak_threads", peak_threads);
  const double worst = s.check ? check(&s, cases, count) : 0;
  if (s.check) report_number("difference_over_tolerance", worst);
  report_text("check", !s.check ? "none" : worst <= 1 ? "passed" : "failed");
  end_report();
  for (int i = 0; i < count; i++) blas_release(&cases[i]);
  free(cases);
  free(seconds);
  if (s.check && !(worst <= 1)) {
    fprintf(stderr, "nested_blas: the results differ from those of one thread, by %g times the tolerance\n", worst);
    return 1;
  }
  return 0;
}
