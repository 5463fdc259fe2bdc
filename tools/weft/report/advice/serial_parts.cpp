// SPDX-License-Identifier: Apache-2.0
// Time in which one thread works outside of all regions: Amdahl's law.
#include <algorithm>

#include "report/advice/faults.h"
#include "report/wording/numbers.h"

namespace weft::tools::report {

namespace {

// Half of what is serial can be run by all CPUs, or beside something else: an assumption, since nobody has tried.
constexpr double kHalf = 0.5;

bool is_serial(const Construct& construct) {
  return construct.sum.kind == SiteKind::serial || construct.sum.kind == SiteKind::program;
}

// One works, and all others are lost.
double wall_of(double lost, int cpus) { return lost / (cpus - 1); }

void judge(Evidence& evidence, const Construct& part, double all, size_t parts) {
  const int cpus = evidence.cpus();
  const Run& run = evidence.run();
  const double lost = evidence.left(part.sites, Loss::serial);
  const double wall = wall_of(lost, cpus);
  // A thread that sleeps, for a file or a child, has nothing that others could take over.
  const double worked = evidence.useful(part.sites);
  const double blocked = evidence.left(part.sites, Loss::blocked);
  const double busy = blocked > 0 ? worked / (worked + blocked) : 1;
  if (busy < kHalf) return;
  const Site& site = evidence.site(part.worst);
  Advice advice;
  advice.kind = "serial_part";
  advice.site = part.worst;
  advice.title = site_text(site) + " keeps one CPU busy and all others waiting";
  advice.evidence = format("It took %s of the run's %s (%s), and %s waited.", seconds_text(wall).c_str(),
                           seconds_text(run.seconds).c_str(), percent_text(wall / run.seconds).c_str(),
                           of_these(static_cast<uint64_t>(cpus - 1), "other CPU").c_str());
  if (parts > 1) advice.evidence += format(" All serial parts together took %s.", seconds_text(all).c_str());
  advice.evidence +=
      format(" With any number of CPUs the run takes at least %s.", seconds_text(std::min(all, run.seconds)).c_str());
  if (run.is_part) {
    advice.action =
        "It is what Python does between the calls that are parallel: give these calls whole arrays in place of loops "
        "in "
        "Python, or have such loops compiled (numba).";
  } else {
    advice.action = "Run the loops in it in parallel, or let it run as a task beside other work.";
    advice.command = directive(site, "parallel for");
  }
  // The half takes 1 / cpus of its time then.
  advice.gain = kHalf * busy * wall * (1 - 1.0 / cpus);
  evidence.propose(advice, wall, {{part.sites, {Loss::serial}}});
}

}  // namespace

void find_serial_parts(Evidence& evidence) {
  if (evidence.cpus() < 2) return;
  double lost = 0;
  std::vector<const Construct*> parts;
  for (const Construct& construct : evidence.constructs()) {
    const double here = is_serial(construct) ? evidence.left(construct.sites, Loss::serial) : 0;
    if (here <= 0) continue;
    lost += here;
    parts.push_back(&construct);
  }
  const double all = wall_of(lost, evidence.cpus());
  for (const Construct* part : parts) judge(evidence, *part, all, parts.size());
}

}  // namespace weft::tools::report
