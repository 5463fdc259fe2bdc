// SPDX-License-Identifier: Apache-2.0
// Loops that are divided before they begin, into parts that take unequally long. Compilers divide such loops in the
// program itself, so that the wait may be seen at the region or at the barrier behind the loop only.
#include <algorithm>

#include "report/advice/faults.h"
#include "report/numbers.h"
#include "report/tree.h"

namespace weft::tools::report {

namespace {

// Threads that work alike wait for this part of the time, too: caches, interrupts, other processes.
constexpr double kNoise = 0.08;
// A dynamic schedule evens nearly all out; its last chunks remain.
constexpr double kEvened = 0.9;
constexpr double kChunksOfAMember = 8;

bool may_be_static(const Construct& construct) {
  switch (construct.sum.kind) {
    case SiteKind::loop: return construct.sum.schedule.empty() || construct.sum.schedule.rfind("static", 0) == 0;
    case SiteKind::region:
    case SiteKind::barrier: return true;
    default: return false;
  }
}

void judge(Evidence& evidence, const Construct& construct) {
  const Site& sum = construct.sum;
  const double lost = evidence.left(construct.sites, Loss::imbalance);
  if (lost <= 0 || lost < kNoise * evidence.spent(evidence.within(construct))) return;
  const double count = static_cast<double>(std::max<uint64_t>(sum.count, 1));
  const double mean = sum.kind == SiteKind::region && sum.lengths.timed > 0 ? sum.lengths.mean : sum.wall / count;
  if (mean < kShortRegion && sum.kind != SiteKind::barrier) return;
  const int width = width_of(evidence.report(), construct.worst);
  if (width < 2) return;

  Advice advice;
  advice.kind = "uneven_static";
  advice.site = construct.worst;
  const std::string name = site_text(evidence.site(construct.worst));
  advice.title = sum.kind == SiteKind::loop     ? "the threads get unequal parts of " + name
                 : sum.kind == SiteKind::region ? "the threads get unequal work in " + name
                                                : "the threads come to " + name + " at different times";
  advice.evidence = format(
      "CPUs waited for the threads that still worked: %s of CPU time, %s of all. It ran %s, for %s "
      "on average.",
      seconds_text(lost).c_str(), percent_text(lost / evidence.cpu_seconds()).c_str(),
      sum.count == 1 ? "once" : (count_text(sum.count) + " times").c_str(), seconds_text(mean).c_str());
  std::string schedule = "dynamic, N";
  advice.action = sum.kind == SiteKind::loop ? "Deal the iterations out while the loop runs"
                                             : "If a loop of it has the default schedule or schedule(static), deal its "
                                               "iterations out while it runs";
  if (sum.iterations > 0) {
    const double iterations = static_cast<double>(sum.iterations);
    const double each = evidence.useful(evidence.within(construct)) / iterations;
    const double most = iterations / count / (kChunksOfAMember * width);
    const uint64_t chunk = power_below(std::min(each > 0 ? kGoodPiece / each : most, most));
    schedule = "dynamic, " + std::to_string(chunk);
    advice.action += format(": with %s at a time.", of_these(chunk, "iteration").c_str());
  } else {
    advice.action +=
        ", N at a time. N iterations should take 10 us or more, and each thread should get several times N.";
  }
  advice.action += " Where the work of an iteration is known beforehand, divide it equally by hand.";
  advice.command = directive(sum, "for schedule(" + schedule + ")");
  advice.gain = kEvened * as_balanced_time(lost, width, evidence.cpus());
  evidence.propose(advice, sum.wall, {{construct.sites, {Loss::imbalance}}});
}

}  // namespace

void find_uneven_loops(Evidence& evidence) {
  for (const Construct& construct : evidence.constructs()) {
    if (may_be_static(construct)) judge(evidence, construct);
  }
}

}  // namespace weft::tools::report
