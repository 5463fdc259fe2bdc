// SPDX-License-Identifier: Apache-2.0
// Tasks that are so small that making them takes a large part of the time. The loss is spread over the region: a
// member that makes tasks is in its body, in a single region, in a loop or in another task, and one that waits for them
// is at a barrier.
#include <algorithm>

#include "report/advice/faults.h"
#include "report/model/stable_sort.h"
#include "report/model/tree.h"
#include "report/wording/numbers.h"

namespace weft::tools::report {

namespace {

// Of the region's tasks, that its losses are blamed on them.
constexpr double kMostTasks = 0.5;
// Of the waits for tasks that come too slowly, and of their overhead.
constexpr double kWaits = 0.5;
constexpr double kCareful = 0.8;
// As many for each thread balance well.
constexpr int kTasksOfAMember = 8;

double tasks_of(const Site& site) { return static_cast<double>(std::max(site.pieces, site.count)); }

bool takes_part(SiteKind kind) {
  switch (kind) {
    case SiteKind::region:
    case SiteKind::loop:
    case SiteKind::sections:
    case SiteKind::single:
    case SiteKind::masked:
    case SiteKind::taskloop:
    case SiteKind::task:
    case SiteKind::barrier: return true;
    default: return false;
  }
}

bool is_taskloop(const Evidence& evidence, const Site& task) {
  const auto same_place = [&](const Site& other) {
    if (other.kind != SiteKind::taskloop) return false;
    const SourcePlace& one = other.place;
    const SourcePlace& two = task.place;
    return (one.offset == two.offset && one.object == two.object && one.offset != 0) ||
           (!one.file.empty() && one.file == two.file && one.line == two.line);
  };
  const std::vector<Site>& sites = evidence.report().sites;
  return std::any_of(sites.begin(), sites.end(), same_place);
}

// All sites of the regions around the tasks, without those of regions within them.
std::vector<int> around(const Evidence& evidence, const Construct& tasks) {
  std::vector<int> found;
  for (const int task : tasks.sites) {
    const int region = region_around(evidence.report(), task);
    if (region < 0) continue;
    for (const int site : sites_within(evidence.report(), region)) {
      if (region_around(evidence.report(), site) == region && takes_part(evidence.site(site).kind)) {
        found.push_back(site);
      }
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

double mean_of(const Site& sum) {
  // The clock also runs while a task waits for its children; work alone is sampled.
  const double worked = sum.useful / tasks_of(sum);
  return sum.lengths.timed > 0 && sum.lengths.mean > 0 ? std::min(sum.lengths.mean, worked) : worked;
}

// Those with the most tasks first: where a region makes several kinds of small ones, they are to blame together.
std::vector<const Construct*> small_tasks(const Evidence& evidence) {
  std::vector<const Construct*> small;
  for (const Construct& construct : evidence.constructs()) {
    const Site& sum = construct.sum;
    if (sum.kind == SiteKind::task && tasks_of(sum) >= 1 && mean_of(sum) < kSmallPiece) small.push_back(&construct);
  }
  sort_stably(small, [](const Construct* a, const Construct* b) { return tasks_of(a->sum) > tasks_of(b->sum); });
  return small;
}

void judge(Evidence& evidence, const Construct& construct, const std::vector<const Construct*>& small) {
  const Site& sum = construct.sum;
  const double tasks = tasks_of(sum);
  const double mean = mean_of(sum);
  const std::vector<int> sites = around(evidence, construct);
  double all_tasks = 0;
  for (const int site : sites) {
    if (evidence.site(site).kind == SiteKind::task) all_tasks += tasks_of(evidence.site(site));
  }
  double small_ones = 0;
  std::string others;
  for (const Construct* other : small) {
    double here = 0;
    for (const int site : other->sites) {
      if (std::binary_search(sites.begin(), sites.end(), site)) here += tasks_of(evidence.site(site));
    }
    small_ones += here;
    if (here > 0 && other != &construct) others += (others.empty() ? "" : ", ") + printable(other->sum.name);
  }
  if (small_ones < kMostTasks * all_tasks) return;
  const double overhead = evidence.left(sites, Loss::overhead);
  const double waits = evidence.left(sites, Loss::imbalance) + evidence.left(sites, Loss::serial);
  const double part = (overhead + waits) / (overhead + waits + evidence.useful(sites));
  if (overhead + waits <= 0 || part < kLargePart) return;

  const int width = width_of(evidence.report(), construct.worst);
  const bool taskloop = is_taskloop(evidence, evidence.site(construct.worst));
  const double times = kGoodPiece / std::max(mean, 1e-8);
  Advice advice;
  advice.kind = "small_tasks";
  advice.site = construct.worst;
  advice.title =
      "the tasks " + std::string(sum.place.file.empty() ? "of " : "at ") + printable(sum.name) + " are too small";
  advice.evidence = format(
      "%s of %s on average. Making them, dealing them out and waiting for them took %s of CPU "
      "time: %s of the region's time, %s for each task.",
      of_these(static_cast<uint64_t>(tasks), "task").c_str(), seconds_text(mean).c_str(),
      seconds_text(overhead + waits).c_str(), percent_text(part).c_str(),
      seconds_text((overhead + waits) / std::max(small_ones, 1.0)).c_str());
  if (!others.empty()) advice.evidence += " The same holds for the tasks at " + others + ".";
  if (taskloop) {
    advice.action = format(
        "Give each task about %.0f times as many iterations, so that it takes 10 to 20 us "
        "(grainsize), or say how many tasks there should be: %d for each thread.",
        times, kTasksOfAMember);
    advice.command = directive(sum, format("taskloop num_tasks(%d)", kTasksOfAMember * width));
  } else {
    advice.action = format(
        "Do about %.0f times as much in each task, so that it takes 10 to 20 us: several items in "
        "one task, a taskloop with grainsize, or, in a recursion, no further tasks below a certain "
        "size (if, final).",
        times);
    advice.command = directive(sum, "task final(size < N)");
  }
  advice.gain =
      kCareful * as_time(overhead, width) * (1 - 1 / times) + kWaits * as_balanced_time(waits, width, evidence.cpus());
  double wall = sum.wall;
  for (const int site : sites) {
    if (evidence.site(site).kind == SiteKind::region) wall = std::max(wall, evidence.site(site).wall);
  }
  evidence.propose(advice, wall, {{sites, {Loss::overhead, Loss::imbalance, Loss::serial}}});
}

}  // namespace

void find_small_tasks(Evidence& evidence) {
  const std::vector<const Construct*> small = small_tasks(evidence);
  for (const Construct* construct : small) judge(evidence, *construct, small);
}

}  // namespace weft::tools::report
