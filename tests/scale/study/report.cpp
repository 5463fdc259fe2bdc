// SPDX-License-Identifier: Apache-2.0
#include "study/report.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "machine/places.h"

namespace weft::scale {

namespace {

using nlohmann::json;

constexpr size_t kMostSites = 40;
constexpr size_t kMostLines = 12;

double us(Time time) { return static_cast<double>(time) / static_cast<double>(kMicrosecond); }

}  // namespace

json report(const Timed& machine, const Construct& construct, int threads, const Outcome& outcome) {
  const auto repetitions = static_cast<double>(std::max<size_t>(1, outcome.times.size()));
  std::vector<Time> sorted = outcome.times;
  std::sort(sorted.begin(), sorted.end());
  json result = {{"machine", machine.model().name()},
                 {"construct", construct.name},
                 {"what", construct.what},
                 {"cpus", machine.cpus()},
                 {"threads", threads},
                 {"repetitions", outcome.times.size()},
                 {"us", us(sorted[sorted.size() / 2])},
                 {"us_least", us(sorted.front())},
                 {"us_most", us(sorted.back())}};
  const Counts counts = machine.counts();
  const auto each = [&](uint64_t count) { return static_cast<double>(count) / repetitions; };
  result["each"] = {{"wakes", each(counts.wakes)},
                    {"wakes_by_first_thread", each(counts.wakes_by_first)},
                    {"futex_waits", each(counts.futex_waits)},
                    {"system_calls", each(counts.system_calls)},
                    {"yields", each(counts.yields)},
                    {"threads_created", each(counts.threads_created)},
                    {"transfers", each(machine.memory().transfers())}};
  for (const Measure& measure : outcome.measures) result["measures"][measure.name] = measure.value;

  std::vector<std::pair<const void*, Site>> sites(machine.memory().sites().begin(), machine.memory().sites().end());
  std::sort(sites.begin(), sites.end(), [](const auto& a, const auto& b) { return a.second.waited > b.second.waited; });
  if (sites.size() > kMostSites) sites.resize(kMostSites);
  const std::vector<const Line*> lines = machine.memory().busiest(kMostLines);
  std::vector<const void*> sought;
  for (const auto& [place, site] : sites) sought.push_back(place);
  for (const Line* line : lines) sought.push_back(line->last_place);
  std::map<const void*, std::string> names = machine::names_of(sought);
  result["sites"] = json::array();
  result["lines"] = json::array();
  for (const auto& [place, site] : sites) {
    result["sites"].push_back({{"place", names[place]},
                               {"waited_us", us(site.waited) / repetitions},
                               {"transfers", each(site.transfers)},
                               {"false_transfers", each(site.false_transfers)},
                               {"updates", each(site.updates)}});
  }
  for (const Line* line : lines) {
    result["lines"].push_back({{"last_used_by", names[line->last_place]},
                               {"updates", each(line->updates)},
                               {"transfers", each(line->transfers)}});
  }
  return result;
}

void print(const json& report) {
  std::printf("%s, %d threads: %.2f us (%.2f to %.2f)\n", report["construct"].get<std::string>().c_str(),
              report["threads"].get<int>(), report["us"].get<double>(), report["us_least"].get<double>(),
              report["us_most"].get<double>());
  for (const auto& [name, value] : report["each"].items())
    std::printf("  %-24s %10.1f\n", name.c_str(), value.get<double>());
  if (report.contains("measures")) {
    for (const auto& [name, value] : report["measures"].items())
      std::printf("  %s: %.3f\n", name.c_str(), value.get<double>());
  }
  std::printf("  waited us  transfers  false  updates  by\n");
  for (const json& site : report["sites"]) {
    std::printf("  %9.2f  %9.1f  %5.1f  %7.1f  %s\n", site["waited_us"].get<double>(), site["transfers"].get<double>(),
                site["false_transfers"].get<double>(), site["updates"].get<double>(),
                site["place"].get<std::string>().c_str());
  }
  std::printf("  lines with most updates:\n");
  for (const json& line : report["lines"]) {
    std::printf("  %7.1f updates  %7.1f transfers  last %s\n", line["updates"].get<double>(),
                line["transfers"].get<double>(), line["last_used_by"].get<std::string>().c_str());
  }
}

}  // namespace weft::scale
