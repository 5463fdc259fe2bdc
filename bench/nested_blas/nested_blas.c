// SPDX-License-Identifier: Apache-2.0
// Nested BLAS: a parallel loop over BLAS calls, which are parallel themselves. Sizes from .. to, one iteration each.
#include <getopt.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/report.h"
#include "nested_blas/blas_case.h"

extern void openblas_set_num_threads(int threads);
extern char *openblas_get_config(void);

typedef struct {
  blas_kind kind;
  int from, to, step;
  int out, in;  // 0: leave it to the runtime
  int repeat, warm_up, check;
  omp_sched_t schedule;
  char schedule_name[16];
} settings;

static const char *const help =
    "nested_blas [--routine gemm|symm|hemm|trsm|syrk] [--type s|d|c|z] [--from N] [--to N] [--step N]\n"
    "            [--out THREADS] [--in THREADS] [--schedule static|dynamic|guided] [--side L|R] [--uplo U|L]\n"
    "            [--trans N|T] [--diag N|U] [--repeat N] [--check]\n"
    "--out 0 and --in 0 leave the numbers to the runtime. --check compares with a serial run. Result: JSON on stdout.\n";

static void fail(const char *what)
{
  fprintf(stderr, "nested_blas: %s\n", what);
  exit(2);
}

static int number(const char *text, int least, const char *name)
{
  char *end;
  const long value = strtol(text, &end, 10);
  if (*end || value < least || value > 1000000) {
    fprintf(stderr, "nested_blas: --%s %s: a number from %d is wanted\n", name, text, least);
    exit(2);
  }
  return (int)value;
}

static void parse(int count, char **arguments, settings *s)
{
  static const struct option options[] = {
      {"routine", 1, 0, 'r'}, {"type", 1, 0, 't'}, {"from", 1, 0, 'f'},     {"to", 1, 0, 'o'},   {"step", 1, 0, 's'},
      {"out", 1, 0, 'O'},     {"in", 1, 0, 'I'},   {"schedule", 1, 0, 'S'}, {"side", 1, 0, 'd'}, {"uplo", 1, 0, 'u'},
      {"trans", 1, 0, 'n'},   {"diag", 1, 0, 'g'}, {"repeat", 1, 0, 'R'},   {"check", 0, 0, 'c'}, {"help", 0, 0, 'h'},
      {0, 0, 0, 0}};
  int option, index = 0;
  while ((option = getopt_long(count, arguments, "", options, &index)) != -1) {
    const char *name = options[index].name;
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
    case 'h': fputs(help, stdout); exit(0);
    default: exit(2);
    }
  }
  if (optind < count) fail("options only; see --help");
  const char *error = blas_kind_error(&s->kind);
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

// The measured region. OpenBLAS is told its number inside, by the thread that calls it, as the source paper did.
static double run(const settings *s, blas_case *cases, int count)
{
  const double start = now();
#pragma omp parallel num_threads(s->out)
  {
    if (s->in > 0) omp_set_num_threads(s->in);
#pragma omp for schedule(runtime)
    for (int i = 0; i < count; i++) blas_call(&s->kind, &cases[i]);
  }
  return now() - start;
}

static double check(const settings *s, blas_case *cases, int count)
{
  double worst = 0;
  openblas_set_num_threads(1);
  for (int i = 0; i < count; i++) {
    blas_case reference;
    blas_prepare(&s->kind, &reference, cases[i].n);
    blas_call(&s->kind, &reference);
    const double difference =
        blas_difference(&s->kind, &cases[i], &reference) / blas_tolerance(&s->kind, cases[i].n);
    if (!(difference <= worst)) worst = difference;
    blas_release(&reference);
  }
  return worst;
}

int main(int argument_count, char **arguments)
{
  settings s = {.kind = {"gemm", 'd', 'L', 'U', 'N', 'N'}, .from = 200, .to = 600, .step = 50, .repeat = 5,
                .schedule_name = "dynamic"};
  parse(argument_count, arguments, &s);
  // Peers switch nested regions off by default; the comparison is with them at their best.
  omp_set_max_active_levels(2);
  omp_set_schedule(s.schedule, s.schedule == omp_sched_static ? 0 : 1);
  if (s.out == 0) s.out = omp_get_max_threads();
  // Said by the initial thread: the number the library believes in. 0: nothing is said, that is the untuned program.
  if (s.in > 0) openblas_set_num_threads(s.in);

  const int count = (s.to - s.from) / s.step + 1;
  blas_case *cases = calloc((size_t)count, sizeof *cases);
  double operations = 0, *seconds = calloc((size_t)s.repeat, sizeof *seconds);
  if (!cases || !seconds) fail("no memory");
  // The largest come last: the outer loop has a tail.
  for (int i = 0; i < count; i++) {
    const int n = s.from + i * s.step;
    blas_prepare(&s.kind, &cases[i], n);
    operations += blas_operations(&s.kind, n);
  }
  run(&s, cases, count);
  for (int r = 0; r < s.repeat; r++) {
    for (int i = 0; i < count; i++) blas_reset(&s.kind, &cases[i]);
    seconds[r] = run(&s, cases, count);
  }

  begin_report();
  report_text("benchmark", "nested_blas");
  report_text("routine", s.kind.routine);
  report_text("type", (char[]){s.kind.type, 0});
  report_text("schedule", s.schedule_name);
  report_text("openblas", openblas_get_config());
  report_number("from", s.from);
  report_number("to", s.to);
  report_number("step", s.step);
  report_number("out", s.out);
  report_number("in", s.in);
  report_number("operations", operations);
  report_samples("time", "s", seconds, s.repeat);
  const double worst = s.check ? check(&s, cases, count) : 0;
  if (s.check) report_number("difference_over_tolerance", worst);
  end_report();
  return s.check && !(worst <= 1);
}
