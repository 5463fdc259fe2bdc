// SPDX-License-Identifier: Apache-2.0
// Memory that lies on one NUMA node while threads of several nodes work. What it costs is not seen here: access that
// takes longer looks like work.
#include <algorithm>

#include "report/advice/faults.h"
#include "report/wording/numbers.h"

namespace weft::tools::report {

namespace {

// Of all pages.
constexpr double kNearlyAll = 0.8;
// Of all CPU time, the work in teams that are larger than a node.
constexpr double kMuchWork = 0.25;

// Somebody has chosen it.
bool is_placed(const Evidence& evidence) {
  const auto numa = evidence.setting("WEFT_NUMA");
  return numa && (numa->starts_with("interleave") || numa->starts_with("bind") || numa->starts_with("preferred"));
}

}  // namespace

void find_memory_on_one_node(Evidence& evidence) {
  const Run& run = evidence.run();
  if (run.memory_nodes < 2 || run.memory_on_one_node <= kNearlyAll || is_placed(evidence)) return;
  // A team that has more members than a node has CPUs is on several.
  const int of_a_node = (evidence.cpus() + run.memory_nodes - 1) / run.memory_nodes;
  int worst = -1;
  double work = 0;
  double most = 0;
  for (const Construct& construct : evidence.constructs()) {
    if (construct.sum.kind != SiteKind::region || construct.depth > 0 || construct.sum.members <= of_a_node) continue;
    const double here = evidence.useful(evidence.within(construct));
    work += here;
    if (here > most) worst = construct.worst;
    most = std::max(most, here);
  }
  if (worst < 0 || work < kMuchWork * evidence.cpu_seconds()) return;

  Advice advice;
  advice.kind = "one_node";
  advice.site = worst;
  advice.title = "the memory lies on one NUMA node, and threads of several nodes work with it";
  advice.evidence = format(
      "%s of the pages lie on one of %d nodes. Most of the work is in %s, which has %s; a node has "
      "%s.",
      percent_text(run.memory_on_one_node).c_str(), run.memory_nodes, site_text(evidence.site(worst)).c_str(),
      of_these(static_cast<uint64_t>(evidence.site(worst).members), "thread").c_str(),
      of_these(static_cast<uint64_t>(of_a_node), "CPU").c_str());
  advice.action =
      "Look which arrays it is, and initialise them by the threads that use them. To try what can be gained, "
      "spread all pages: weft run --numa interleave -- " +
      command_line(run);
  advice.command = "weft numa -- " + command_line(run);
  advice.gain = 0;
  evidence.mention(advice);
}

}  // namespace weft::tools::report
