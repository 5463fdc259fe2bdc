// SPDX-License-Identifier: Apache-2.0
#include "report/command/command.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <signal.h>

#include "base/message.h"
#include "child.h"
#include "descendants.h"
#include "executable.h"
#include "exit_codes.h"
#include "job.h"
#include "platform/file_name.h"
#include "platform/launcher.h"
#include "program.h"
#include "record_folder.h"
#include "report/advice/advice.h"
#include "report/command/excerpts.h"
#include "report/command/files.h"
#include "report/command/hang_watch.h"
#include "report/command/node_watch.h"
#include "report/command/outputs.h"
#include "report/json/json.h"
#include "report/profile/left.h"
#include "report/ranks/rank_folder.h"
#include "report/ranks/ranks.h"
#include "report/wording/numbers.h"
#include "report_file.h"
#include "trace.h"

namespace weft::tools {

namespace {

namespace fs = std::filesystem;
using platform::has_number;
using report::Report;

// Of the environment that the process was started with; empty: it has none, or may not be read.
std::string variable_of(int process, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(process) + "/environ", std::ios::binary);
  for (std::string entry; std::getline(file, entry, '\0');) {
    if (entry.starts_with(name + '=')) return entry.substr(name.size() + 1);
  }
  return {};
}

// At what happens beside the program: who shares the node, whether another rank has failed.
constexpr std::chrono::milliseconds kBetweenLooks(100);

void say_why_nothing(const Ending& ending, const Program& program, const std::string& name) {
  if (ending.exit_code == kNotFound || ending.exit_code == kCannotExecute) {
    base::warn("report: %s has ended with code %d, as a program does that could not be started, or one that it starts",
               name.c_str(), ending.exit_code);
    return;
  }
  if (ending.signal != 0) {
    base::warn(
        "report: signal %d (%s) has ended the program after %s: it had called no OpenMP, or not for the quarter of a "
        "second after which the recorder writes for the first time. There is nothing to report",
        ending.signal, strsignal(ending.signal), report::seconds_text(ending.seconds).c_str());
    return;
  }
  base::warn(
      "report: %s has left nothing to report: %s; or it has ended within a quarter of a second by _exit, exec or "
      "MPI_Abort",
      name.c_str(), why_no_openmp(program.path).c_str());
}

constexpr char kEachRankWritesIt[] = ": each rank would write it; put %r into its name, which stands for the rank";

// Each rank has files of its own.
bool is_by_rank(const ReportOptions& options) { return has_number(options.page) || has_number(options.json); }

// `trace`: of --trace, which is for runs alone.
bool are_outputs_apart(const ReportOptions& options, const std::string& trace,
                       const std::vector<std::string>& read = {}) {
  const auto file = [&](const std::string& name) { return file_called(name, options); };
  return are_apart("report", {{"-o", file(options.page)}, {"--json", file(options.json)}, {"--trace", file(trace)}},
                   read);
}

// What is wrong with the names of files where ranks are run; empty: nothing.
std::string fault_of(const ReportOptions& options, const std::string& trace) {
  if (platform::rank_by_launcher() != nullptr && !trace.empty() && !has_number(trace)) return trace + kEachRankWritesIt;
  if (platform::rank_by_launcher() == nullptr || (job_by_launcher() && !is_by_rank(options))) return {};
  for (const std::string* name : {&options.page, &options.json}) {
    if (!name->empty() && *name != "-" && !has_number(*name)) {
      return *name + kEachRankWritesIt;
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

// The last things that a report of a run is given.
void complete(Report& made, const ReportOptions& options) {
  if (!options.no_source) report::add_excerpts(made);
  if (const std::string text = report::sharing_text(made.run.node); !text.empty()) made.run.notes.push_back(text);
  made.advice = report::advise(made, &made.run.notes);
}

// A program that has come to its end by itself had come out of it.
void take_hang(Report& made, report::HangWatch& hang, const Ending& ending) {
  const report::Hang found = hang.known();
  if (ending.signal == 0 && ending.exit_code == 0 && !ending.was_ended) return;
  made.run.deadlock = found.deadlock;
  made.run.stood_still = found.deadlock.empty() ? 0 : found.seconds;
}

// Ends the program as somebody does who sends SIGTERM to this command (child.h), and kills it if it goes on.
class TimeLimit {
 public:
  TimeLimit(double seconds, fs::path records, report::HangWatch& hang)
      : seconds_(seconds), records_(std::move(records)), hang_(hang) {}

  void look() {
    constexpr double kPatience = 5;
    const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    // The recorder writes what it knows, for which it has some hundredths of a second.
    constexpr double kToWrite = 0.3;
    if (seconds_ > 0 && !wanted_ && passed > seconds_ - kToWrite) {
      wanted_ = true;
      std::ofstream(records_ / "wanted").put('\n');
    }
    if (seconds_ <= 0 || passed < seconds_ + kPatience * asked_) return;
    if (asked_ == 0) hang_.ask_now();
    ++asked_;
    raise(SIGTERM);
  }

  // What this has done to the program is no failure.
  void excuse(Ending& ending) const {
    ending.was_ended = asked_ > 0;
    if (!ending.was_ended || (ending.signal != SIGTERM && ending.signal != SIGKILL)) return;
    ending.exit_code = 0;
    ending.signal = 0;
  }

 private:
  const double seconds_;
  const fs::path records_;
  report::HangWatch& hang_;
  bool wanted_ = false;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  int asked_ = 0;
};

// One of several ranks makes the report of all.
class Ranks {
 public:
  Ranks(const ReportOptions& options, const Job& job, const fs::path& records, const RunOptions& run)
      : options_(options), job_(job), records_(records), run_(run), folder_({options.page, options.json}, job) {}

  bool good() const { return folder_.good(); }

  // While the program runs. The launcher ends it as soon as the rank that has failed is gone: it is asked for what it
  // knows.
  void look() {
    node_.look();
    if (left_early_ || !folder_.look()) return;
    if (!asked_) {
      asked_ = true;
      std::ofstream(records_ / "wanted").put('\n');
      return;
    }
    const std::optional<Report> made = report_left(records_, run_.command, {}, {});
    if (!made) return;
    left_early_ = true;
    leave(made, {}, true);
  }

  // The exit code of this command.
  int end(const Ending& ending, const Ending& own, report::HangWatch& hang) {
    std::optional<Report> made = report_left(records_, run_.command, ending, own);
    if (made) take_hang(*made, hang, ending);
    const bool is_failed = ending.exit_code != 0 || (made ? is_unfinished(*made) : is_in_mpi(records_));
    const RankFolder::Left left = leave(std::move(made), ending, false);
    if (left == RankFolder::Left::late) {
      if (!left_early_) base::warn("report: the report has been made without rank %d", job_.rank);
      return ending.exit_code;
    }
    const std::optional<RankParts> parts = folder_.gather(is_failed ? RankFolder::End::failed : RankFolder::End::good);
    const bool is_good = left == RankFolder::Left::all && !folder_.has_failed();
    const bool is_written = !parts || write(*parts);
    return is_good && is_written ? ending.exit_code : std::max(ending.exit_code, kFailed);
  }

 private:
  // MPI was used and not finalized, which launchers take for a failure.
  static bool is_unfinished(const Report& made) {
    return made.run.rank >= 0 && std::none_of(made.sites.begin(), made.sites.end(),
                                              [](const report::Site& site) { return site.callee == "MPI_Finalize"; });
  }

  RankFolder::Left leave(std::optional<Report> made, const Ending& ending, bool is_early) {
    RankPart part;
    part.program = run_.command.front();
    if (made) made->run.node = node_.share_of(made->run.process);
    part.exit_code = ending.exit_code;
    part.is_early = is_early;
    if (made) {
      made->run.rank = job_.rank;
      made->run.ranks = job_.ranks;
      part.report = report::to_json(*made);
    } else {
      part.why = why_nothing(records_, ending);
    }
    return folder_.leave(std::move(part));
  }

  bool write(const RankParts& parts) {
    std::vector<std::string> notes;
    std::optional<Report> made = report_of_ranks(parts, &notes);
    if (!made) {
      base::warn("report: none of the ranks has left a report");
      for (const std::string& note : notes) base::warn("report: %s", note.c_str());
      return false;
    }
    made->run.notes.insert(made->run.notes.begin(), notes.begin(), notes.end());
    complete(*made, options_);
    Outputs outputs(options_);
    return outputs.good() && outputs.write(*made, options_.quiet);
  }

  const ReportOptions& options_;
  const Job job_;
  const fs::path records_;
  const RunOptions& run_;
  RankFolder folder_;
  report::NodeWatch node_;
  bool asked_ = false;
  bool left_early_ = false;
};

// A page of its own.
int write_alone(const ReportOptions& options, Outputs& outputs, std::optional<Report> made, const Ending& ending,
                const report::NodeWatch& node, report::HangWatch& hang, const Program& program,
                const std::string& name) {
  if (!made) {
    say_why_nothing(ending, program, name);
    return ending.exit_code != 0 ? ending.exit_code : kFailed;
  }
  made->run.node = node.share_of(made->run.process);
  take_hang(*made, hang, ending);
  complete(*made, options);
  const char* rank = platform::rank_by_launcher();
  const bool speaks = rank == nullptr || std::strcmp(rank, "0") == 0;
  if (!outputs.write(*made, options.quiet || !speaks) && ending.exit_code == 0) return kFailed;
  return ending.exit_code;
}

}  // namespace

int make_report(const ReportOptions& options, RunOptions run) {
  if (!are_outputs_apart(options, run.trace)) return kUsage;
  if (const std::string fault = fault_of(options, run.trace); !fault.empty()) {
    base::warn("report: %s", fault.c_str());
    return kUsage;
  }
  if (options.against_stock && run.mpi && platform::rank_by_launcher() != nullptr) {
    base::warn("report: --against stock: a rank of MPI can be started once; time the program without weft by itself");
    return kUsage;
  }
  std::optional<Outputs> outputs(std::in_place, options);
  std::optional<TraceFile> trace;
  if (!run.trace.empty()) trace.emplace("report", "--trace", run.trace);
  if (!outputs->good() || (trace && !trace->good())) return kFailed;
  const Ending own = options.against_stock ? run_stock(run) : Ending();
  if (own.exit_code != 0) return own.exit_code;
  const RecordFolder folder("report");
  if (folder.path().empty()) return kFailed;
  run.profile = folder.path();
  Program program;
  if (const int fault = prepare(run, program); fault != 0) return fault;
  const auto has_trace = [&](const Ending& ending) {
    return !trace || trace->say_what_is_missing(ending, program, run.command.front());
  };
  report::HangWatch hang;
  const auto run_recorded = [&](const auto& look) {
    TimeLimit limit(options.seconds, folder.path(), hang);
    const auto look_all = [&] {
      look();
      hang.begin();
      limit.look();
    };
    Ending ending = run_child("report", program.path, run.command, look_all, kBetweenLooks);
    hang.end();
    limit.excuse(ending);
    return ending;
  };
  const std::optional<Job> job = is_by_rank(options) ? std::nullopt : job_by_launcher();
  if (!job) {
    report::NodeWatch node;
    const Ending ending = run_recorded([&] { node.look(); });
    const int least = has_trace(ending) ? 0 : kFailed;
    return std::max(least,
                    write_alone(options, *outputs, report_left(folder.path(), run.command, ending, own, CutOff::taken),
                                ending, node, hang, program, run.command.front()));
  }
  // The files can be written; one of the ranks will.
  outputs.reset();
  Ranks ranks(options, *job, folder.path(), run);
  if (!ranks.good()) return kFailed;
  const Ending ending = run_recorded([&] { ranks.look(); });
  const int least = has_trace(ending) ? 0 : kFailed;
  return std::max(least, ranks.end(ending, own, hang));
}

int report_process(const ReportOptions& options, int given) {
  if (!are_outputs_apart(options, {})) return kUsage;
  std::string several;
  const auto is_recorded = [](int one) { return !variable_of(one, "WEFT_PROFILE_FOLDER").empty(); };
  const int process = meant_process(given, is_recorded, &several);
  if (!several.empty()) {
    base::warn("report: process %d has started several that are recorded: %s; which one?", given, several.c_str());
    return kFailed;
  }
  const std::string folder = variable_of(process, "WEFT_PROFILE_FOLDER");
  if (folder.empty()) {
    base::warn(
        "report: process %d is not recorded, or is another user's: a program that `weft report` has started is. `weft "
        "threads %d` says what it waits for",
        process, process);
    return kFailed;
  }
  std::optional<Report> made = report_left(folder, {}, {.process = process}, {}, CutOff::running);
  if (!made) {
    base::warn("report: process %d has not been recorded for a second yet, or has opened no parallel region", process);
    return kFailed;
  }
  Outputs outputs(options);
  if (!outputs.good()) return kFailed;
  made->run.deadlock = report::deadlock_of(process).value_or(std::vector<std::string>());
  complete(*made, options);
  return outputs.write(*made, options.quiet) ? 0 : kFailed;
}

int make_report_of_profile(const ReportOptions& options) {
  if (!are_outputs_apart(options, {})) return kUsage;
  std::error_code error;
  if (!fs::is_directory(options.profile, error)) {
    base::warn("report: --profile %s: is no folder; the one that weft_profile_write() was given is wanted",
               options.profile.c_str());
    return kUsage;
  }
  Outputs outputs(options);
  if (!outputs.good()) return kFailed;
  std::optional<Report> made = report_left(options.profile, {}, {}, {});
  if (!made) {
    base::warn("report: --profile %s: there is no profile in it", options.profile.c_str());
    return kFailed;
  }
  complete(*made, options);
  return outputs.write(*made, options.quiet) ? 0 : kFailed;
}

int report_files(const ReportOptions& options, const std::vector<std::string>& names) {
  if (!are_outputs_apart(options, {}, names)) return kUsage;
  const RecordFolder folder("report");
  if (folder.path().empty()) return kFailed;
  try {
    Report made = report::read_files(names, folder.path());
    for (report::Site& site : made.sites) {
      if (options.no_source) site.place.excerpt = {};
    }
    Outputs outputs(options);
    return outputs.good() && outputs.write(made, options.quiet) ? 0 : kFailed;
  } catch (const std::runtime_error& error) {
    base::warn("report: %s", error.what());
    return kFailed;
  }
}

}  // namespace weft::tools
