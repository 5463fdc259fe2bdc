// SPDX-License-Identifier: Apache-2.0
// Single calls of MPI between two ranks; `--help` lists the options. mpi_micro makes them outside and inside of tasks,
// mpi_calls has no tasks.
#include "mpi/micro/micro.h"

#include <stdlib.h>
#include <string.h>

#include "common/report.h"
#include "mpi/common/events.h"
#include "mpi/common/job.h"
#include "mpi/common/options.h"

struct options {
  const char* names;
  int repeat, milliseconds;
  bool single;
};

static struct options parse(int argument_count, char** arguments) {
  struct options options = {.names = "", .repeat = 15, .milliseconds = 2};
  parse_options(
      argument_count, arguments,
      (const struct program_option[]){
          {.name = "only", .text = &options.names, .help = "what measurements begin with, with commas between"},
          {.name = "repeat", .count = &options.repeat, .help = "samples of each"},
          {.name = "milliseconds", .count = &options.milliseconds, .help = "that a sample fills"},
          {.name = "single", .flag = &options.single, .help = "MPI without threads"},
          {0},
      });
  return options;
}

// Whether the name begins with one of those that are asked for.
static bool wanted(const char* names, const char* name) {
  if (!*names) return true;
  while (*names) {
    const size_t length = strcspn(names, ",");
    if (length && strncmp(name, names, length) == 0) return true;
    names += length + (names[length] == ',');
  }
  return false;
}

// What rank 0 has, at both ranks.
static double agreed(double value) {
  MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return value;
}

static long count_that_fills(const struct measurement* it, double seconds) {
  const long most = 1L << 24;
  for (long count = 1;; count *= 2) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (agreed(it->run(it, count)) >= seconds || count >= most) return count;
  }
}

static void measure(const struct measurement* it, const struct options* options) {
  const double ns_per_second = 1e9;
  const long count = it->run ? count_that_fills(it, 1e-3 * options->milliseconds) : 1;
  // Those that are one sample by themselves take a second.
  const int repeat = it->run ? options->repeat : (options->repeat + 4) / 5;
  double* samples = allocated((size_t)repeat, sizeof *samples);
  for (int i = 0; i < repeat; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    samples[i] = it->run ? ns_per_second * it->run(it, count) / (double)count : it->sample(it);
  }
  if (rank_in(MPI_COMM_WORLD) == 0) report_samples(it->name, it->run ? "ns" : it->unit, samples, repeat);
  free(samples);
}

int main(int argument_count, char** arguments) {
  const struct options options = parse(argument_count, arguments);
  start_job(&argument_count, &arguments, options.single ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE);
  refuse_job(ranks_in(MPI_COMM_WORLD) == 2 ? NULL : "two ranks are wanted");
  const bool reports = rank_in(MPI_COMM_WORLD) == 0;
  if (reports) begin_job_report();
  for (const struct measurement* const* family = families; *family; family++) {
    for (const struct measurement* it = *family; it->name; it++) {
      const bool possible = !(options.single && (it->in_task || it->tasks)) && (!it->by_events || events_are_there());
      if (possible && wanted(options.names, it->name)) measure(it, &options);
    }
  }
  if (reports) end_report();
  MPI_Finalize();
  return 0;
}
