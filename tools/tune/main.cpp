// SPDX-License-Identifier: Apache-2.0
// The measuring program of `weft tune`, for one MPI (loader.cpp starts it).
// The results begin with a line about the job.
//   measure [--seconds S] [--entry-seconds S] [--number N] [--paper] PLAN RESULTS   a line of JSON for each entry
//   levels RESULTS                                                    a line of JSON for each level and each pattern
//   variables RESULTS NAME...                                                       a line for each variable of MPI
//   host COMMAND...                                                                 the command on rank 0 only
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <mpi.h>

#include "host.h"
#include "levels.h"
#include "measure.h"
#include "patterns.h"
#include "variables.h"

namespace {

using weft::tune::Entry;
using weft::tune::Meter;
using weft::tune::NodeBarrier;
using weft::tune::Options;
using weft::tune::Result;

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// On rank 0; null on the others.
std::FILE* open(const char* file) {
  if (rank_of_world() != 0) return nullptr;
  std::FILE* out = std::fopen(file, "w");
  if (out == nullptr) {
    std::perror(file);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  weft::tune::describe_job(out);
  return out;
}

void write(std::FILE* out, const Entry& entry, const Result& result) {
  std::fprintf(out, R"({"number":%d,"skew":%.0f,"fault":"%s","times":[)", entry.number, result.skew,
               result.fault.c_str());
  const char* comma = "";
  for (const double time : result.nanoseconds) {
    std::fprintf(out, "%s%.0f", comma, time);
    comma = ",";
  }
  std::fprintf(out, "]}\n");
  // A job may be ended at any time; what it has found so far counts.
  std::fflush(out);
}

int measure(const Options& options, const char* plan, const char* results) {
  const int rank = rank_of_world();
  NodeBarrier barrier(MPI_COMM_WORLD);
  std::FILE* out = open(results);
  const double start = MPI_Wtime();
  Meter meter(barrier, options);
  for (const Entry& entry : weft::tune::read_plan(plan, rank)) {
    int late = options.seconds > 0 && MPI_Wtime() - start > options.seconds ? 1 : 0;
    MPI_Bcast(&late, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (late != 0) break;
    const Result result = meter.measure(entry);
    if (out != nullptr) write(out, entry, result);
  }
  if (out != nullptr) std::fclose(out);
  return 0;
}

int levels(const char* results) {
  NodeBarrier barrier(MPI_COMM_WORLD);
  std::FILE* out = open(results);
  weft::tune::measure_levels(out);
  weft::tune::measure_patterns(barrier, out);
  if (out != nullptr) std::fclose(out);
  return 0;
}

int variables(const char* results, char** names) {
  std::FILE* out = open(results);
  if (out == nullptr) return 0;
  weft::tune::describe_variables(out, names);
  std::fclose(out);
  return 0;
}

int run(int count, char** arguments) {
  const char* mode = count > 1 ? arguments[1] : "";
  if (std::strcmp(mode, "host") == 0 && count > 2) return weft::tune::host(arguments + 2);
  if (std::strcmp(mode, "levels") == 0 && count == 3) return levels(arguments[2]);
  if (std::strcmp(mode, "variables") == 0 && count > 2) return variables(arguments[2], arguments + 3);
  Options options;
  int i = 2;
  for (; i + 1 < count && arguments[i][0] == '-'; ++i) {
    if (std::strcmp(arguments[i], "--seconds") == 0) options.seconds = std::atof(arguments[++i]);
    if (std::strcmp(arguments[i], "--entry-seconds") == 0) options.entry_seconds = std::atof(arguments[++i]);
    if (std::strcmp(arguments[i], "--number") == 0) options.first_number = std::atoi(arguments[++i]);
    if (std::strcmp(arguments[i], "--paper") == 0) options.paper = true;
  }
  if (std::strcmp(mode, "measure") == 0 && count - i == 2) return measure(options, arguments[i], arguments[i + 1]);
  if (rank_of_world() == 0) std::fprintf(stderr, "weft: tune: this program is started by weft tune\n");
  return 2;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int weft_tune_main(int count, char** arguments) {
  int level = 0;
  MPI_Init(&count, &arguments);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  const int code = run(count, arguments);
  MPI_T_finalize();
  MPI_Finalize();
  return code;
}
