// SPDX-License-Identifier: Apache-2.0
// Members that wait while one of them runs a single or masked region.
#include <algorithm>

#include "report/advice/faults.h"
#include "report/model/tree.h"
#include "report/wording/numbers.h"

namespace weft::tools::report {

namespace {

// What all run, or what runs beside what follows, does not always bring all back.
constexpr double kCareful = 0.9;

void judge(Evidence& evidence, const Construct& construct) {
  const Evidence::Claim waits = {construct.sites, {Loss::serial, Loss::imbalance}};
  const double lost = evidence.left(waits);
  if (lost <= 0) return;
  const Site& sum = construct.sum;
  const std::string name = site_text(evidence.site(construct.worst));
  bool makes_tasks = false;
  for (const int site : construct.sites) {
    const int region = region_around(evidence.report(), site);
    if (region < 0) continue;
    for (const int beside : sites_within(evidence.report(), region)) {
      makes_tasks = makes_tasks || evidence.site(beside).kind == SiteKind::task;
    }
  }
  Advice advice;
  advice.kind = "single_region";
  advice.site = construct.worst;
  advice.title = "one thread runs " + name + " while the others wait";
  advice.evidence = format("CPUs waited for it: %s of CPU time, %s of all.", seconds_text(lost).c_str(),
                           percent_text(lost / evidence.cpu_seconds()).c_str());
  if (sum.count > 0) {
    advice.evidence += format(" It ran %s.", sum.count == 1 ? "once" : (count_text(sum.count) + " times").c_str());
  }
  if (makes_tasks) {
    advice.action =
        "If it makes the tasks of the region, one thread does not make them fast enough: make larger ones, "
        "or let several threads make them (taskloop, or tasks made in a parallel loop).";
    advice.command = directive(sum, "taskloop");
  } else if (sum.kind == SiteKind::single) {
    advice.action =
        "If what follows does not need its results, do not wait for it (nowait). If it has loops, run them "
        "by all threads (taskloop).";
    advice.command = directive(sum, "single nowait");
  } else {
    advice.action =
        "Let it run as a task beside other work, without a barrier behind it. If it has loops, run them by "
        "all threads (taskloop).";
    advice.command = directive(sum, "taskloop");
  }
  const int width = width_of(evidence.report(), construct.worst);
  advice.gain = kCareful * as_balanced_time(lost, width, evidence.cpus());
  evidence.propose(advice, sum.wall, {waits});
}

}  // namespace

void find_single_regions(Evidence& evidence) {
  for (const Construct& construct : evidence.constructs()) {
    if (construct.sum.kind == SiteKind::single || construct.sum.kind == SiteKind::masked) judge(evidence, construct);
  }
}

}  // namespace weft::tools::report
