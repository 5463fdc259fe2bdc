// SPDX-License-Identifier: Apache-2.0
#include "report/command.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include <unistd.h>

#include "base/message.h"
#include "child.h"
#include "library.h"
#include "program.h"
#include "record_folder.h"
#include "report/advice.h"
#include "report/files.h"
#include "report/node_watch.h"
#include "report/outputs.h"
#include "report/profile.h"

namespace weft::tools {

namespace {

namespace fs = std::filesystem;
using report::Report;

constexpr int kFailed = 1;
constexpr int kUsage = 2;
// At the node, where processes share it.
constexpr std::chrono::milliseconds kBetweenLooks{100};

double cpu_of(const Report& each) {
  double sum = 0;
  for (const report::ThreadRow& thread : each.threads) sum += thread.cpu;
  return sum;
}

// The processes of the program that have used OpenMP. A shell script has many.
std::vector<Report> read_all(const fs::path& folder) {
  std::vector<Report> all;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    try {
      all.push_back(report::read_profile(entry.path(), folder));
    } catch (const std::runtime_error& fault) {
      base::warn("report: process %s: %s", entry.path().stem().c_str(), fault.what());
    }
  }
  return all;
}

// The one that has used most of the CPUs; the others are named.
Report choose(std::vector<Report> all) {
  std::sort(all.begin(), all.end(), [](const Report& a, const Report& b) { return cpu_of(a) > cpu_of(b); });
  Report chosen = std::move(all.front());
  constexpr size_t kNamed = 4;
  for (size_t i = 1; i < std::min(all.size(), kNamed); ++i) {
    const std::string name = all[i].run.command.empty() ? "?" : all[i].run.command.front();
    char text[160];
    std::snprintf(text, sizeof text, "Process %d (%.60s) used OpenMP too, %.1f CPU seconds: it is not shown here.",
                  all[i].run.process, name.c_str(), cpu_of(all[i]));
    chosen.run.notes.emplace_back(text);
  }
  if (all.size() > kNamed) {
    chosen.run.notes.push_back("And " + std::to_string(all.size() - kNamed) + " more processes.");
  }
  return chosen;
}

void say_why_nothing(const Ending& ending, const std::string& program) {
  if (ending.signal != 0) {
    base::warn("report: signal %d (%s) has ended the program, so it has left nothing to report", ending.signal,
               strsignal(ending.signal));
  } else {
    base::warn(
        "report: %s has left nothing to report: it has called no OpenMP, or has ended by _exit; weft run --stats says "
        "which runtimes it has",
        program.c_str());
  }
}

bool is_same_file(const std::string& a, const std::string& b) {
  if (a == "-" && b == "-") return true;
  std::error_code error;
  return fs::weakly_canonical(a, error) == fs::weakly_canonical(b, error);
}

// What is wrong with the names; empty: nothing.
std::string fault_of(const ReportOptions& options) {
  if (options.page.empty()) return "-o: the name of a file is wanted";
  if (options.has_json && options.json.empty()) return "--json: the name of a file is wanted";
  if (options.has_json && is_same_file(options.page, options.json)) {
    return "-o " + options.page + ": is the file of --json too; each needs its own";
  }
  if (rank_by_launcher() == nullptr) return {};
  for (const std::string* name : {&options.page, &options.json}) {
    if (!name->empty() && *name != "-" && name->find("%r") == std::string::npos &&
        name->find("%p") == std::string::npos) {
      return *name + ": each rank would write it; put %r into its name, which stands for the rank";
    }
  }
  return {};
}

// Before weft is in the environment. A program that fails so is not run again.
Ending run_stock(const RunOptions& run) {
  const Program program = examine_program(run.command.front());
  if (program.path.empty()) {
    base::warn("%s", program.complaint.c_str());
    return {.exit_code = program.exit_code};
  }
  Ending ending = run_child("report", program.path, run.command, [] {});
  if (ending.exit_code != 0) {
    base::warn("report: under its own OpenMP runtime the program has ended with code %d: it is not run on weft",
               ending.exit_code);
  }
  return ending;
}

}  // namespace

int make_report(const ReportOptions& options, RunOptions run) {
  if (const std::string fault = fault_of(options); !fault.empty()) {
    base::warn("report: %s", fault.c_str());
    return kUsage;
  }
  const Ending own = options.against_stock ? run_stock(run) : Ending();
  if (own.exit_code != 0) return own.exit_code;
  const RecordFolder folder("report");
  if (folder.path().empty()) return kFailed;
  run.profile = folder.path();
  Program program;
  if (const int fault = prepare(run, program); fault != 0) return fault;
  Outputs outputs(options, find_libraries());
  if (!outputs.good()) return kFailed;
  report::NodeWatch node;
  const Ending ending = run_child("report", program.path, run.command, [&] { node.look(); }, kBetweenLooks);
  std::vector<Report> all = read_all(folder.path());
  if (all.empty()) {
    say_why_nothing(ending, run.command.front());
    return ending.exit_code != 0 ? ending.exit_code : kFailed;
  }
  Report made = choose(std::move(all));
  // The kernel does not say any more where the initial thread has ended first.
  if (made.run.command.empty()) made.run.command = run.command;
  if (made.run.process == ending.process) {
    made.run.exit_code = ending.exit_code;
  } else {
    made.run.notes.insert(made.run.notes.begin(), "This is process " + std::to_string(made.run.process) + " of " +
                                                      run.command.front() + ", which ended with code " +
                                                      std::to_string(ending.exit_code) + ".");
  }
  made.run.node = node.share_of(made.run.process);
  if (const std::string text = report::sharing_text(made.run.node); !text.empty()) made.run.notes.push_back(text);
  made.run.own_seconds = own.seconds;
  made.run.own_cpu_seconds = own.cpu_seconds;
  made.advice = report::advise(made, &made.run.notes);
  const char* rank = rank_by_launcher();
  const bool speaks = rank == nullptr || std::strcmp(rank, "0") == 0;
  if (!outputs.write(made, options.quiet || !speaks) && ending.exit_code == 0) return kFailed;
  return ending.exit_code;
}

int make_report_of_profile(const ReportOptions& options) {
  if (const std::string fault = fault_of(options); !fault.empty()) {
    base::warn("report: %s", fault.c_str());
    return kUsage;
  }
  std::error_code error;
  if (!fs::is_directory(options.profile, error)) {
    base::warn("report: --profile %s: is no folder; the one that weft_profile_write() was given is wanted",
               options.profile.c_str());
    return kUsage;
  }
  Outputs outputs(options, find_libraries());
  if (!outputs.good()) return kFailed;
  std::vector<Report> all = read_all(options.profile);
  if (all.empty()) {
    base::warn("report: --profile %s: there is no profile in it", options.profile.c_str());
    return kFailed;
  }
  Report made = choose(std::move(all));
  made.advice = report::advise(made, &made.run.notes);
  return outputs.write(made, options.quiet) ? 0 : kFailed;
}

int report_files(const ReportOptions& options, const std::vector<std::string>& names) {
  std::string fault = fault_of(options);
  for (const std::string* output : {&options.page, &options.json}) {
    const auto same =
        std::find_if(names.begin(), names.end(), [&](const std::string& name) { return is_same_file(*output, name); });
    if (fault.empty() && same != names.end())
      fault = *output + ": is the file that is read; name another one for what is written";
  }
  if (fault.empty() && names.size() > 1) fault = names[1] + ": one file is wanted; weft compare takes several";
  if (!fault.empty()) {
    base::warn("report: %s", fault.c_str());
    return kUsage;
  }
  const RecordFolder folder("report");
  if (folder.path().empty()) return kFailed;
  try {
    const std::vector<Report> read = report::read_files(names, folder.path());
    Outputs outputs(options, find_libraries());
    return outputs.good() && outputs.write(read.front(), options.quiet) ? 0 : kFailed;
  } catch (const std::runtime_error& error) {
    base::warn("report: %s", error.what());
    return kFailed;
  }
}

}  // namespace weft::tools
