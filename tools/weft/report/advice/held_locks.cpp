// SPDX-License-Identifier: Apache-2.0
// Threads that wait for critical regions and locks.
#include <algorithm>

#include "report/advice/faults.h"
#include "report/model/tree.h"
#include "report/wording/numbers.h"

namespace weft::tools::report {

namespace {

// What is done under the lock now is done by all at the same time then, and put together in the end.
constexpr double kApart = 0.7;

void judge(Evidence& evidence, const Construct& construct) {
  const Site& sum = construct.sum;
  const double waited = evidence.left(construct.sites, Loss::synchronisation);
  const double alone = evidence.left(construct.sites, Loss::serial);
  const double lost = waited + alone;
  if (lost <= 0) return;
  const bool critical = sum.kind == SiteKind::critical;
  Advice advice;
  advice.kind = critical ? "critical" : "lock";
  advice.site = construct.worst;
  advice.title = "threads wait for " + site_text(evidence.site(construct.worst));
  advice.evidence = format("Waiting for it took %s of CPU time, %s of all.", seconds_text(lost).c_str(),
                           percent_text(lost / evidence.cpu_seconds()).c_str());
  if (sum.count > 0) {
    advice.evidence +=
        format(" It was %s %s, and the mean wait is %s.", critical ? "entered" : "taken",
               of_these(sum.count, "time").c_str(), seconds_text(lost / static_cast<double>(sum.count)).c_str());
  }
  if (critical) {
    advice.action =
        "If it adds to a sum or the like, use a reduction. If it changes one variable, atomic is enough. "
        "Otherwise collect the results of each thread apart and put them together behind the loop.";
    advice.command = directive(sum, "for reduction(+: sum)");
  } else {
    advice.action =
        "Protect parts of the data by locks of their own, hold the lock for less time, or collect the "
        "results of each thread apart and put them together behind the loop.";
  }
  const int width = width_of(evidence.report(), construct.worst);
  advice.gain = kApart * (as_time(waited, width) + as_balanced_time(alone, width, evidence.cpus()));
  evidence.propose(advice, sum.wall, {{construct.sites, {Loss::synchronisation, Loss::serial}}});
}

}  // namespace

void find_held_locks(Evidence& evidence) {
  for (const Construct& construct : evidence.constructs()) {
    if (construct.sum.kind == SiteKind::critical || construct.sum.kind == SiteKind::lock) judge(evidence, construct);
  }
}

}  // namespace weft::tools::report
