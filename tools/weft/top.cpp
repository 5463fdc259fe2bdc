// SPDX-License-Identifier: Apache-2.0
#include "top.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include <unistd.h>

#include "exit_codes.h"
#include "keys.h"
#include "metrics.h"
#include "node_rows.h"
#include "program_table.h"
#include "report_file.h"
#include "terminal.h"
#include "weft_programs.h"

namespace weft::tools {

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// What `weft top --once` looks at, to say how many regions per second there are.
constexpr double kOnceSeconds = 0.25;
// Between two looks, if nobody has said.
constexpr double kSeconds = 1;

// What has happened between two looks.
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

void print_top(const node::NodeStatus& now, const node::NodeStatus& before, double seconds, const char* line_end) {
  if (now.processes.empty()) {
    std::printf("%s%s\n", kNobodyShares, line_end);
    return;
  }
  std::printf("%s%s\n%s  REGIONS/S  WAITS%s\n", summary_of(now).c_str(), line_end, kRowTitles, line_end);
  for (const node::ProcessStatus& process : now.processes) {
    const Rates recent = rates(process, before, seconds);
    std::printf("%s %10.0f %5.0f%%%s\n", row_of(process).c_str(), recent.regions, 100 * recent.waiting, line_end);
  }
}

Json json_of_programs(const ProgramRows& rows) {
  Json all = Json::array();
  for (const ProgramRow& row : rows.programs) {
    all.push_back({{"pid", row.pid},
                   {"command", row.name},
                   {"cpus_used", row.cpus},
                   {"cpus_allowed", row.allowed},
                   {"threads", row.threads},
                   {"seconds", row.seconds}});
  }
  return all;
}

std::string json_of_node(const node::NodeStatus& now, const node::NodeStatus& before, const ProgramRows& programs) {
  Json processes = Json::array();
  for (const node::ProcessStatus& process : now.processes) {
    const Rates recent = rates(process, before, kOnceSeconds);
    Json entry = json_of(process);
    entry["regions_per_second"] = recent.regions;
    entry["waiting"] = recent.waiting;
    processes.push_back(entry);
  }
  return text_of({{"segment", node::default_path().text},
                  {"processes", processes},
                  {"on_weft", json_of_programs(programs)},
                  {"cpus_used_by_others", programs.others}});
}

int cpus() { return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)); }

int top_once(const std::string& json) {
  ReportFile file("top", "--json", json);
  node::NodeStatus before;
  node::NodeStatus now;
  WeftPrograms programs;
  if (!file.good() || !read_node(before)) return kFailed;
  programs.look();
  std::this_thread::sleep_for(std::chrono::duration<double>(kOnceSeconds));
  if (!read_node(now)) return kFailed;
  const ProgramRows rows = programs.look();
  if (json != "-") std::printf("%s\n", table_of(rows, cpus(), TableOrder::cpu, false, "").c_str());
  if (json != "-") print_top(now, before, kOnceSeconds, "");
  return json.empty() || file.write(json_of_node(now, before, rows)) ? 0 : kFailed;
}

}  // namespace

int top(const TopOptions& options) {
  if (!options.openmetrics.empty()) return export_metrics(options);
  if (options.once || !options.json.empty() || isatty(STDOUT_FILENO) == 0) return top_once(options.json);
  const Keys keys;
  const bool colour = has_colour(STDOUT_FILENO);
  TableOrder order = TableOrder::cpu;
  node::NodeStatus before;
  WeftPrograms programs;
  programs.look();
  Clock::time_point seen = Clock::now();
  // Lines that are too long end at the edge.
  std::printf("\x1b[?7l");
  for (;;) {
    node::NodeStatus now;
    if (!read_node(now)) return kFailed;
    const Clock::time_point time = Clock::now();
    // To the upper left corner; each line is cleared behind its text, and what is below.
    std::printf("\x1b[H%s\x1b[K\n", table_of(programs.look(), cpus(), order, colour, "\x1b[K").c_str());
    print_top(now, before, std::chrono::duration<double>(time - seen).count(), "\x1b[K");
    std::printf("\x1b[Kq ends; %s\x1b[J", kSortKeys);
    std::fflush(stdout);
    // A key comes when it comes, and rates of a moment say nothing.
    if (time - seen >= std::chrono::milliseconds(200) || before.processes.empty()) {
      before = std::move(now);
      seen = time;
    }
    const char key = keys.pressed(options.seconds > 0 ? options.seconds : kSeconds);
    if (key == Keys::kEnd) break;
    if (is_order(key)) order = static_cast<TableOrder>(key);
  }
  std::printf("\x1b[?7h\n");
  return 0;
}

}  // namespace weft::tools
