// SPDX-License-Identifier: Apache-2.0
// Loops that are divided before they begin, into parts that take unequally long. Compilers divide such loops in the
// program itself, so that the wait may be seen at the region or at the barrier behind the loop only.
#include <algorithm>

#include "report/advice/faults.h"
#include "report/model/tree.h"
#include "report/wording/numbers.h"

namespace weft::tools::report {

namespace {

// Threads that work alike wait for this part of the time, too: caches, interrupts, other processes.
constexpr double kNoise = 0.08;
// A dynamic schedule evens nearly all out; its last chunks remain.
constexpr double kEvened = 0.9;
constexpr double kChunksOfAMember = 8;
// Where other processes take the CPU of a member the others wait for it, but not where they lose theirs just as long.
// It is half of the time if each member loses its CPU once in an instance, and less if that happens more often.
constexpr double kOfOthers = 1.0 / 3;

bool may_be_static(const Construct& construct) {
  switch (construct.sum.kind) {
    case SiteKind::loop: return construct.sum.schedule.empty() || construct.sum.schedule.rfind("static", 0) == 0;
    case SiteKind::region:
    case SiteKind::barrier: return true;
    default: return false;
  }
}

// CPU seconds in which members were kept from working.
double without_cpu(const Evidence& evidence, const Construct& construct) {
  double sum = 0;
  for (const int site : evidence.within(construct)) sum += evidence.left(site, Loss::blocked);
  if (construct.sum.kind != SiteKind::barrier) return sum;
  // Members are late at a barrier for what they did before it.
  for (const int site : construct.sites) {
    const int region = region_around(evidence.report(), site);
    if (region > 0) sum += evidence.left(region, Loss::blocked);
  }
  return sum;
}

// CPU seconds that other processes had meanwhile, as far as they run evenly. The pool uses fewer CPUs then, so that
// members run one after the other, and it looks as if the later ones had more to do.
double taken_by_others(const Evidence& evidence, const Construct& construct) {
  const Run& run = evidence.run();
  return run.seconds > 0 ? run.others_cpu * std::min(1.0, construct.sum.wall / run.seconds) : 0;
}

void judge(Evidence& evidence, const Construct& construct) {
  const Site& sum = construct.sum;
  const int width = width_of(evidence.report(), construct.worst);
  const double lost = evidence.left(construct.sites, Loss::imbalance);
  const double own =
      lost - kOfOthers * (width - 1) * without_cpu(evidence, construct) - taken_by_others(evidence, construct);
  const std::vector<int> within = evidence.within(construct);
  if (own <= 0 || own < kNoise * (evidence.spent(within) - evidence.left(within, Loss::blocked))) return;
  const double count = static_cast<double>(std::max<uint64_t>(sum.count, 1));
  const double mean = sum.kind == SiteKind::region && sum.lengths.timed > 0 ? sum.lengths.mean : sum.wall / count;
  if (mean < kShortRegion && sum.kind != SiteKind::barrier) return;
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
    const double each = evidence.useful(within) / iterations;
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
  advice.gain = kEvened * as_balanced_time(own, width, evidence.cpus());
  evidence.propose(advice, sum.wall, {{construct.sites, {Loss::imbalance}}});
}

}  // namespace

void find_uneven_loops(Evidence& evidence) {
  for (const Construct& construct : evidence.constructs()) {
    if (may_be_static(construct)) judge(evidence, construct);
  }
}

}  // namespace weft::tools::report
