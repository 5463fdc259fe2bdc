// SPDX-License-Identifier: Apache-2.0
#include "top/node_rates.h"

#include <algorithm>
#include <cstdio>

namespace weft::tools {

namespace {

using Json = nlohmann::ordered_json;

struct Rates {
  double regions = 0;  // a second
  double waiting = 0;  // part of the time
};

Rates rates(const node::ProcessStatus& now, const node::NodeStatus& before, double seconds) {
  const auto same = [&](const node::ProcessStatus& other) {
    return other.pid == now.pid && other.membership == now.membership;
  };
  const auto old = std::find_if(before.processes.begin(), before.processes.end(), same);
  if (old == before.processes.end() || seconds <= 0 || now.regions < old->regions) return {};
  return {static_cast<double>(now.regions - old->regions) / seconds,
          std::clamp(in_seconds(now.waited_ns - old->waited_ns) / seconds, 0.0, 1.0)};
}

}  // namespace

std::vector<std::string> node_lines(const node::NodeStatus& now, const node::NodeStatus& before, double seconds) {
  if (now.processes.empty()) return {"", kNobodyShares};
  std::vector<std::string> lines = {"", summary_of(now), std::string(kRowTitles) + "  REGIONS/S  WAITS"};
  for (const node::ProcessStatus& process : now.processes) {
    const Rates recent = rates(process, before, seconds);
    char text[40];
    std::snprintf(text, sizeof text, " %10.0f %5.0f%%", recent.regions, 100 * recent.waiting);
    lines.push_back(row_of(process) + text);
  }
  return lines;
}

Json json_of_node(const node::NodeStatus& now, const node::NodeStatus& before, double seconds) {
  Json processes = Json::array();
  for (const node::ProcessStatus& process : now.processes) {
    const Rates recent = rates(process, before, seconds);
    Json entry = json_of(process);
    entry["regions_per_second"] = recent.regions;
    entry["waiting"] = recent.waiting;
    processes.push_back(entry);
  }
  return processes;
}

}  // namespace weft::tools
