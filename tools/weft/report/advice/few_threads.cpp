// SPDX-License-Identifier: Apache-2.0
// Regions that have fewer threads than there are CPUs.
#include <algorithm>
#include <charconv>
#include <map>

#include "report/advice/faults.h"
#include "report/model/tree.h"
#include "report/wording/numbers.h"

namespace weft::tools::report {

namespace {

// Of the CPUs that had no thread, that more threads would use: work does not grow with them without end.
constexpr double kUsed = 0.7;

// A variable that gives regions fewer threads than there are CPUs.
struct Variable {
  std::string name;  // empty: there is none
  std::string value;
  int threads = 0;
};

Variable variable(const Evidence& evidence) {
  for (const char* name : {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT"}) {
    const std::string value = evidence.setting(name).value_or("");
    int threads = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), threads);
    if (error == std::errc() && threads > 0 && threads < evidence.cpus()) return {name, value, threads};
  }
  return {};
}

int outermost(const Report& report, int region) {
  while (true) {
    const int around = region_around(report, parent_of(report, region));
    if (around < 0) return region;
    region = around;
  }
}

// Those of all sites of a region, apart from the regions in it.
std::map<int, std::vector<int>> by_region(const Evidence& evidence) {
  std::map<int, std::vector<int>> sites;
  for (int site = 0; site < static_cast<int>(evidence.report().sites.size()); ++site) {
    const int region = region_around(evidence.report(), site);
    if (region > 0 && evidence.left(site, Loss::few_threads) > 0) sites[region].push_back(site);
  }
  return sites;
}

Advice about(const Evidence& evidence, int site, double lost) {
  Advice advice;
  advice.kind = "few_threads";
  advice.site = site;
  advice.gain = kUsed * as_time(lost, evidence.cpus());
  return advice;
}

void judge(Evidence& evidence, const Variable& variable) {
  Evidence::Claim claim = {{}, {Loss::few_threads}};
  int worst = 0;
  double most = 0;
  double wall = 0;
  for (const auto& [region, sites] : by_region(evidence)) {
    // A clause of its own gives it still fewer.
    if (evidence.site(outermost(evidence.report(), region)).members < variable.threads) continue;
    claim.sites.insert(claim.sites.end(), sites.begin(), sites.end());
    wall += evidence.site(region).wall;
    const double here = evidence.left(sites, Loss::few_threads);
    if (here > most) worst = region;
    most = std::max(most, here);
  }
  const double lost = evidence.left(claim);
  if (lost <= 0) return;
  const std::string& name = variable.name;
  Advice advice = about(evidence, worst, lost);
  advice.title = format("%s=%s leaves CPUs without threads", name.c_str(), printable(variable.value).c_str());
  advice.evidence = format(
      "%s had a thread each and %s were there. Those without one lost %s of CPU time, %s of all, "
      "most of it in %s.",
      of_these(static_cast<uint64_t>(width_of(evidence.report(), worst)), "CPU").c_str(),
      count_text(static_cast<uint64_t>(evidence.cpus())).c_str(), seconds_text(lost).c_str(),
      percent_text(lost / evidence.cpu_seconds()).c_str(), site_text(evidence.site(worst)).c_str());
  advice.action = "Unset " + name + ": regions then have a thread for each CPU that the program may use.";
  advice.command = run_without(evidence.run(), name);
  evidence.propose(advice, wall, {claim});
}

void judge(Evidence& evidence, const Construct& region, const std::map<int, std::vector<int>>& by_region) {
  Evidence::Claim claim = {{}, {Loss::few_threads}};
  for (const int site : region.sites) {
    const auto found = by_region.find(site);
    if (found != by_region.end()) claim.sites.insert(claim.sites.end(), found->second.begin(), found->second.end());
  }
  const double lost = evidence.left(claim);
  const Site& sum = region.sum;
  if (lost <= 0 || sum.members >= evidence.cpus()) return;
  const double mean =
      sum.lengths.timed > 0 ? sum.lengths.mean : sum.wall / static_cast<double>(std::max<uint64_t>(sum.count, 1));
  // Somebody may have meant it: more threads make it slower.
  if (mean < kShortRegion) return;
  Advice advice = about(evidence, region.worst, lost);
  const auto members = static_cast<uint64_t>(std::max(sum.members, 1));
  advice.title = site_text(evidence.site(region.worst)) + " has only " + of_these(members, "thread");
  advice.evidence = format("%s could work. Those without a thread lost %s of CPU time, %s of all.",
                           of_these(static_cast<uint64_t>(evidence.cpus()), "CPU").c_str(), seconds_text(lost).c_str(),
                           percent_text(lost / evidence.cpu_seconds()).c_str());
  if (sum.requested > sum.members) {
    advice.action = format(
        "It asked for %d threads and got fewer: look for OMP_THREAD_LIMIT, thread_limit, "
        "OMP_DYNAMIC and omp_set_dynamic.",
        sum.requested);
  } else {
    advice.action =
        "Take out what says so: a clause num_threads or if, or a call of omp_set_num_threads. Without them "
        "it has a thread for each CPU that the program may use.";
  }
  advice.command = directive(sum, format("parallel num_threads(%d)", evidence.cpus()));
  evidence.propose(advice, sum.wall, {claim});
}

}  // namespace

void find_few_threads(Evidence& evidence) {
  const Variable threads = variable(evidence);
  if (!threads.name.empty()) judge(evidence, threads);
  const auto sites = by_region(evidence);
  for (const Construct& construct : evidence.constructs()) {
    if (construct.sum.kind == SiteKind::region) judge(evidence, construct, sites);
  }
}

}  // namespace weft::tools::report
