// SPDX-License-Identifier: Apache-2.0
#include "report/wording/conclusion.h"

#include "report/wording/numbers.h"
#include "report/wording/words.h"

namespace weft::tools::report {

namespace {

struct Lost {
  Loss why = Loss::serial;
  double seconds = 0;
  const Site* where = nullptr;  // where most of it was lost
};

Lost lost_by(const Report& report, Loss why) {
  Lost lost{why};
  const auto by = static_cast<size_t>(why);
  for (const Site& site : report.sites) {
    lost.seconds += site.lost[by];
    if (lost.where == nullptr || site.lost[by] > lost.where->lost[by]) lost.where = &site;
  }
  return lost;
}

std::string text_of(const Lost& lost, double whole) {
  std::string text =
      format(" Most was lost to %s (%s)", plain_word_of(lost.why).c_str(), percent_text(lost.seconds / whole).c_str());
  if (lost.where != nullptr && lost.where->kind != SiteKind::program && !lost.where->name.empty()) {
    // The name of a serial part says where it is: "after the region at program.c:10".
    text +=
        std::string(", above all ") + (lost.where->kind == SiteKind::serial ? "" : "at ") + printable(lost.where->name);
  }
  return text + ": " + meaning_of(lost.why) + ".";
}

}  // namespace

Conclusion conclusion_of(const Report& report) {
  const Run& run = report.run;
  if (has_stood_still(run)) {
    return {false, "the program stood still for " + seconds_text(run.stood_still) +
                       " in the deadlock that is named above, and its figures count that time."};
  }
  const double whole = run.cpus * run.seconds;
  const double efficiency = factors_of(report).parallel_efficiency;
  if (whole <= 0 || efficiency >= kGoodEfficiency) {
    return {true, run.notes.empty()
                      ? "no fault of a known kind costs 2 % of the run or more."
                      : "no fault of a known kind costs 2 % of the run or more. See the notes, and take a longer run "
                        "on a quiet machine to be sure."};
  }
  std::string text = format(
      "only %s of the CPUs' time was the program's work, and no fault of a known kind explains "
      "the rest.",
      percent_text(efficiency).c_str());
  const double blocked = lost_by(report, Loss::blocked).seconds;
  if (run.others_cpu >= kMuch * whole) {
    text += format(
        " Other processes used %s of the CPUs' time (%s of all): the machine was busy. Run the program again "
        "when it is quiet, or with --cpus for the CPUs that it can have.",
        seconds_text(run.others_cpu).c_str(), percent_text(run.others_cpu / whole).c_str());
  } else if (blocked >= kMuch * whole) {
    text += format(
        " Threads that had work were without a CPU for %s (%s of all CPU time): they slept in the system, for "
        "a file say, or others had their CPUs.",
        seconds_text(blocked).c_str(), percent_text(blocked / whole).c_str());
  }
  Lost most;
  for (int i = 0; i < kLosses; ++i) {
    const Lost lost = lost_by(report, static_cast<Loss>(i));
    if (lost.seconds > most.seconds) most = lost;
  }
  if (most.seconds > 0) text += text_of(most, whole);
  return {false, text};
}

}  // namespace weft::tools::report
