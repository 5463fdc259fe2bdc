// SPDX-License-Identifier: Apache-2.0
#include "report/profile/left.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "base/message.h"
#include "report/profile/profile.h"
#include "report/wording/numbers.h"

namespace weft::tools {

namespace {

namespace fs = std::filesystem;
using report::Report;

// The processes of the program that have used OpenMP. A shell script has many.
std::vector<Report> read_all(const fs::path& folder, CutOff cut_off) {
  std::vector<Report> all;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::error_code error;
    const bool is_cut_off = cut_off != CutOff::left_out && entry.path().extension() == ".so-far" &&
                            !fs::exists(fs::path(entry.path()).replace_extension(".json"), error);
    if (!is_cut_off && entry.path().extension() != ".json") continue;
    try {
      all.push_back(report::read_profile(entry.path(), folder));
      all.back().run.is_cut_off = is_cut_off;
    } catch (const std::runtime_error& fault) {
      base::warn("report: process %s: %s", entry.path().stem().c_str(), fault.what());
    }
  }
  return all;
}

// The one that has used most of the CPUs; the others are named.
Report choose(std::vector<Report> all) {
  std::sort(all.begin(), all.end(),
            [](const Report& a, const Report& b) { return report::cpu_seconds_of(a) > report::cpu_seconds_of(b); });
  Report chosen = std::move(all.front());
  constexpr size_t kNamed = 4;
  for (size_t i = 1; i < std::min(all.size(), kNamed); ++i) {
    const std::string name = all[i].run.command.empty() ? "?" : all[i].run.command.front();
    char text[160];
    std::snprintf(text, sizeof text, "Process %d (%.60s) used OpenMP too, %.1f CPU seconds: it is not shown here.",
                  all[i].run.process, name.c_str(), report::cpu_seconds_of(all[i]));
    chosen.run.notes.emplace_back(text);
  }
  if (all.size() > kNamed) {
    chosen.run.notes.push_back("And " + std::to_string(all.size() - kNamed) + " more processes.");
  }
  return chosen;
}

// What the reader has to know before all figures.
std::string why_cut_off(const Report& made, const Ending& ending, CutOff cut_off) {
  if (cut_off == CutOff::running)
    return "The program still runs. The figures are those of its first " + report::seconds_text(made.run.seconds) +
           ". If it hangs, weft threads " + std::to_string(made.run.process) + " says what its threads wait for.";
  const bool is_program = made.run.process == ending.process;
  std::string why = "The process has ended by _exit, exec, MPI_Abort or a signal";
  if (is_program && ending.signal != 0) {
    why = "Signal " + std::to_string(ending.signal) + " (" + strsignal(ending.signal) + ") has ended the program";
  } else if (is_program) {
    why = "The program has ended by _exit, exec or MPI_Abort";
  }
  std::string of = "The figures are those of its first " + report::seconds_text(made.run.seconds);
  if (is_program) of += " of " + report::seconds_text(ending.seconds);
  return why + ". " + of + ".";
}

}  // namespace

std::optional<Report> report_left(const fs::path& folder, const std::vector<std::string>& command, const Ending& ending,
                                  const Ending& own, CutOff cut_off) {
  std::vector<Report> all = read_all(folder, cut_off);
  if (all.empty()) return std::nullopt;
  Report made = choose(std::move(all));
  // The kernel does not say any more where the initial thread has ended first.
  if (made.run.command.empty()) made.run.command = command;
  if (made.run.process == ending.process) {
    made.run.exit_code = ending.exit_code;
  } else if (ending.process != 0) {
    made.run.notes.insert(made.run.notes.begin(), "This is process " + std::to_string(made.run.process) + " of " +
                                                      command.front() + ", which ended with code " +
                                                      std::to_string(ending.exit_code) + ".");
  }
  if (made.run.is_cut_off) made.run.notes.insert(made.run.notes.begin(), why_cut_off(made, ending, cut_off));
  made.run.own_seconds = own.seconds;
  made.run.own_cpu_seconds = own.cpu_seconds;
  return made;
}

std::string why_nothing(const fs::path& folder, const Ending& ending) {
  if (ending.signal != 0) {
    return "signal " + std::to_string(ending.signal) + " (" + strsignal(ending.signal) + ") has ended it";
  }
  if (is_in_mpi(folder)) return "it has ended without MPI_Finalize, as MPI_Abort does";
  return "it has called no OpenMP, or has ended by _exit or MPI_Abort";
}

bool is_in_mpi(const fs::path& folder) {
  std::error_code error;
  const auto is_mark = [](const fs::directory_entry& entry) { return entry.path().extension() == ".in-mpi"; };
  return std::any_of(fs::directory_iterator(folder, error), fs::directory_iterator(), is_mark);
}

}  // namespace weft::tools
