// SPDX-License-Identifier: Apache-2.0
// `weft report`: runs a program, or reads what a run has left, and says where the time went.
#pragma once

#include <string>
#include <vector>

#include "run.h"

namespace weft::tools {

struct ReportOptions {
  std::string page;  // the file; %p in it stands for the process's number, %r for its rank
  std::string json;  // the report for programs into this file, named likewise; "-": stdout
  bool against_stock = false;  // run the program under its own runtime too, first
  bool quiet = false;  // no summary
  bool no_source = false;  // no lines of sources on the page
  std::string profile;  // in place of a program: the folder in which the recorder has left its profile
  double seconds = 0;   // after which the program is ended; 0: no limit
};

// The exit code of this command: the program's. With a `trace` in `run`, one is written besides.
int make_report(const ReportOptions& options, RunOptions run);

// Of a process that `weft report` has started, and that runs. Not 0: there is no report.
int report_process(const ReportOptions& options, int process);

// Of what lies in `options.profile`; nothing is run. Not 0: there is no report.
int make_report_of_profile(const ReportOptions& options);
// Of what earlier runs have left: a report by --json, or a trace.
int report_files(const ReportOptions& options, const std::vector<std::string>& names);

}  // namespace weft::tools
