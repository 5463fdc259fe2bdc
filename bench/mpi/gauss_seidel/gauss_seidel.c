// SPDX-License-Identifier: Apache-2.0
// The heat equation by the Gauss-Seidel method, in several versions; `--help` lists the options. Every version keeps
// the order of the sequential sweep, so the result has the same bits for any number of ranks, threads and blocks.
#include <stdbool.h>
#include <string.h>

#include "common/report.h"
#include "mpi/common/events.h"
#include "mpi/common/job.h"
#include "mpi/common/options.h"
#include "mpi/gauss_seidel/versions.h"

struct version {
  const char* name;
  void (*run)(const struct field* field, int steps);
  int level;  // of threads that MPI must give
};

static const struct version versions[] = {
    {"sequential", run_sequential, MPI_THREAD_SINGLE},
    {"pure-mpi", run_pure_mpi, MPI_THREAD_SINGLE},
    {"n-buffer", run_n_buffer, MPI_THREAD_SINGLE},
    {"fork-join", run_fork_join, MPI_THREAD_FUNNELED},
    {"sentinel", run_sentinel, MPI_THREAD_SERIALIZED},
    {"interop-blk", run_interop_blk, MPI_THREAD_MULTIPLE},
    {"interop-nonblk", run_interop_nonblk, MPI_THREAD_MULTIPLE},
};
enum { version_count = sizeof versions / sizeof *versions };

struct options {
  struct problem problem;
  const struct version* version;
  bool verify;
};

static struct options parse(int argument_count, char** arguments) {
  struct options options = {.problem = {.rows = 2048, .cols = 2048, .steps = 20, .block = 256}};
  struct problem* problem = &options.problem;
  const char* name = "(missing)";
  const struct program_option known[] = {
      {.name = "version",
       .text = &name,
       .help = "sequential, pure-mpi, n-buffer, fork-join, sentinel, interop-blk or interop-nonblk"},
      {.name = "rows", .count = &problem->rows, .help = "of the matrix"},
      {.name = "cols", .count = &problem->cols, .help = "of the matrix"},
      {.name = "steps", .count = &problem->steps, .help = "sweeps over the matrix"},
      {.name = "block", .count = &problem->block, .help = "rows and columns of a block"},
      {.name = "shares", .text = &problem->shares, .help = "of the ranks in the rows, such as 3,1; else equal ones"},
      {.name = "verify", .flag = &options.verify, .help = "status 1 where a bit differs from the sequential sweep"},
      {0},
  };
  parse_options(argument_count, arguments, known);
  for (int i = 0; i < version_count; i++)
    if (strcmp(versions[i].name, name) == 0) options.version = &versions[i];
  if (!options.version) refuse_option(known, "version", name);
  return options;
}

struct run {
  const struct version* version;
  const struct field* field;
  int steps;
};

static void run(void* argument) {
  const struct run* it = argument;
  it->version->run(it->field, it->steps);
}

// Why this cannot be started; null: it can.
static const char* refusal(const struct options* options) {
  if (options->version->run == run_sequential && ranks_in(MPI_COMM_WORLD) > 1)
    return "the version sequential is for one rank";
  if (options->version->run == run_interop_nonblk && !events_are_there())
    return "the version interop-nonblk needs TAMPI_Iwait, and no library in this process has it";
  return NULL;
}

static uint64_t sequential_hash(const struct problem* problem) {
  struct field field = make_field(problem, MPI_COMM_SELF);
  run_sequential(&field, problem->steps);
  const uint64_t hash = field_hash(&field);
  free_field(&field);
  return hash;
}

int main(int argument_count, char** arguments) {
  const struct options options = parse(argument_count, arguments);
  const struct problem* problem = &options.problem;
  start_job(&argument_count, &arguments, options.version->level);
  refuse_job(refusal(&options));
  struct field field = make_field(problem, MPI_COMM_WORLD);
  struct run it = {options.version, &field, problem->steps};
  const double seconds = seconds_of(MPI_COMM_WORLD, run, &it);
  const uint64_t hash = field_hash(&field);
  free_field(&field);
  int different = 0;
  if (rank_in(MPI_COMM_WORLD) == 0) {
    const uint64_t reference = options.verify ? sequential_hash(problem) : hash;
    different = hash != reference;
    begin_job_report();
    report_text("version", options.version->name);
    report_number("seconds", seconds);
    report_number("updates_per_second", (double)problem->rows * problem->cols * problem->steps / seconds);
    report_hash(hash, options.verify ? &reference : NULL);
    end_report();
  }
  MPI_Bcast(&different, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return different;
}
