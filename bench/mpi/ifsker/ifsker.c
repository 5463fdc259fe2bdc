// SPDX-License-Identifier: Apache-2.0
// A mock-up of a spectral weather model after the description of IFSKer, in several versions; `--help` lists the
// options. The result has the same bits for any number of ranks, threads and blocks.
#include <stdbool.h>
#include <string.h>

#include "common/report.h"
#include "mpi/common/events.h"
#include "mpi/common/job.h"
#include "mpi/common/options.h"
#include "mpi/ifsker/versions.h"

struct version {
  const char* name;
  void (*run)(const struct model* model);
  int level;  // of threads that MPI must give
};

static const struct version versions[] = {
    {"pure-mpi", run_pure_mpi, MPI_THREAD_SINGLE},
    {"fork-join", run_fork_join, MPI_THREAD_FUNNELED},
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
  struct options options = {
      .problem = {.row_points = 320, .rows = 160, .levels = 10, .fields = 4, .block = 256, .steps = 10}};
  struct problem* problem = &options.problem;
  const char* name = "(missing)";
  const struct program_option known[] = {
      {.name = "version", .text = &name, .help = "pure-mpi, fork-join, interop-blk or interop-nonblk"},
      {.name = "points", .count = &problem->row_points, .help = "of a row of the grid"},
      {.name = "rows", .count = &problem->rows, .help = "of the grid"},
      {.name = "levels", .count = &problem->levels, .help = "above each point"},
      {.name = "fields", .count = &problem->fields, .help = "at each level of each point"},
      {.name = "block", .count = &problem->block, .help = "points whose columns are computed together"},
      {.name = "steps", .count = &problem->steps, .help = "of time"},
      {.name = "verify", .flag = &options.verify, .help = "status 1 where a bit differs from Pure MPI on one rank"},
      {0},
  };
  parse_options(argument_count, arguments, known);
  for (int i = 0; i < version_count; i++)
    if (strcmp(versions[i].name, name) == 0) options.version = &versions[i];
  if (!options.version) refuse_option(known, "version", name);
  return options;
}

// Why this cannot be started; null: it can.
static const char* refusal(const struct options* options) {
  const struct problem* problem = &options->problem;
  const int ranks = ranks_in(MPI_COMM_WORLD);
  if (problem->levels < ranks || (long)problem->rows * problem->row_points < ranks)
    return "each rank needs a level and a point";
  if (options->version->run == run_interop_nonblk && !events_are_there())
    return "the version interop-nonblk needs TAMPI_Iwait, and no library in this process has it";
  return NULL;
}

struct run {
  const struct version* version;
  const struct model* model;
};

static void run(void* argument) {
  const struct run* it = argument;
  it->version->run(it->model);
}

static uint64_t hash_of_one_rank(const struct problem* problem) {
  struct model model = make_model(problem, MPI_COMM_SELF);
  run_pure_mpi(&model);
  const uint64_t hash = model_hash(&model);
  free_model(&model);
  return hash;
}

int main(int argument_count, char** arguments) {
  const struct options options = parse(argument_count, arguments);
  const struct problem* problem = &options.problem;
  start_job(&argument_count, &arguments, options.version->level);
  refuse_job(refusal(&options));
  struct model model = make_model(problem, MPI_COMM_WORLD);
  struct run it = {options.version, &model};
  const double seconds = seconds_of(MPI_COMM_WORLD, run, &it);
  const uint64_t hash = model_hash(&model);
  free_model(&model);
  int different = 0;
  if (rank_in(MPI_COMM_WORLD) == 0) {
    const uint64_t reference = options.verify ? hash_of_one_rank(problem) : hash;
    different = hash != reference;
    const double updates = (double)problem->row_points * problem->rows * problem->levels * problem->fields;
    begin_job_report();
    report_text("version", options.version->name);
    report_number("seconds", seconds);
    report_number("updates_per_second", updates * problem->steps / seconds);
    report_hash(hash, options.verify ? &reference : NULL);
    end_report();
  }
  MPI_Bcast(&different, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return different;
}
