// SPDX-License-Identifier: Apache-2.0
// The commands and options of `weft`. The parser, --help, the manual pages and the completions of shells come from it.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "doctor/doctor.h"
#include "duel/duel.h"
#include "node.h"
#include "numa/numa.h"
#include "report/command/command.h"
#include "report/command/compare_command.h"
#include "run_options.h"
#include "threads/threads.h"
#include "top/top.h"
#include "tune.h"

namespace weft::tools {

struct CommandLine {
  CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  CLI::App app;
  CLI::App* run = nullptr;
  CLI::App* trace = nullptr;
  CLI::App* merge = nullptr;
  CLI::App* report = nullptr;
  CLI::App* compare = nullptr;
  CLI::App* numa = nullptr;
  CLI::App* node = nullptr;
  CLI::App* node_status = nullptr;
  CLI::App* node_reset = nullptr;
  CLI::App* threads = nullptr;
  CLI::App* doctor = nullptr;
  CLI::App* top = nullptr;
  CLI::App* info = nullptr;
  CLI::App* tune = nullptr;

  // What the options set.
  RunOptions run_options;
  std::string trace_file = "weft-trace.json";
  std::vector<std::string> merged_traces;
  std::string merged_file = "weft-trace.json";
  ReportOptions report_options{
      .page = "weft-report.html", .json = "", .against_stock = false, .quiet = false, .profile = ""};
  std::string against;  // what `report` compares with
  CompareOptions compare_options;
  double duel_seconds = DuelOptions{}.seconds;
  NumaOptions numa_options;
  std::string node_json;
  bool node_force = false;
  ThreadsOptions threads_options;
  DoctorOptions doctor_options;
  TopOptions top_options;
  std::string info_json;
  TuneOptions tune_options;
};

}  // namespace weft::tools
