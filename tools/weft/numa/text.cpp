// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "numa/report.h"

namespace weft::tools::numa {

namespace {

constexpr size_t kWidth = 100;
constexpr size_t kMostArrays = 20;
constexpr size_t kMostMappings = 12;

[[gnu::format(printf, 1, 2)]] std::string format(const char* text, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, text);
  std::vsnprintf(line, sizeof line, text, arguments);
  va_end(arguments);
  return line;
}

std::string size_text(double bytes) {
  static constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return format(bytes < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", bytes, kUnits[unit]);
}

// "0: 61  1: 39", the greatest parts first where there is no room for all; "?" for pages that nobody has touched.
std::string shares_text(const Shares& shares, size_t room) {
  std::vector<std::pair<double, int>> by_part;
  for (const auto& [node, share] : shares) {
    if (std::lround(100 * share) > 0) by_part.emplace_back(share, node);
  }
  std::sort(by_part.begin(), by_part.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  std::string text;
  for (const auto& [share, node] : by_part) {
    const std::string name = node < 0 ? "untouched" : std::to_string(node);
    const std::string next = format("%s%s: %ld %%", text.empty() ? "" : ", ", name.c_str(), std::lround(100 * share));
    if (text.size() + next.size() > room) return text + " ..";
    text += next;
  }
  return text.empty() ? "-" : text;
}

// Lines of at most kWidth columns, broken at spaces, the next ones indented.
std::string wrapped(const std::string& text, size_t indent) {
  std::string all;
  std::string line(indent, ' ');
  size_t at = 0;
  while (at < text.size()) {
    const size_t space = text.find(' ', at);
    const std::string word = text.substr(at, space == std::string::npos ? space : space - at);
    if (line.size() + 1 + word.size() > kWidth && line.size() > indent) {
      all += line + "\n";
      line.assign(indent + 2, ' ');
    }
    if (!line.empty() && line.back() != ' ') line += ' ';
    line += word;
    at = space == std::string::npos ? text.size() : space + 1;
  }
  return all + line + "\n";
}

// Other people's words, on a terminal.
std::string printable(std::string text, size_t room) {
  for (char& c : text) c = static_cast<unsigned char>(c) >= ' ' && c != '\x7f' ? c : '?';
  if (text.size() <= room) return text;
  // Of a path the end says more.
  return text.front() == '/' ? ".." + text.substr(text.size() - room + 2) : text.substr(0, room - 2) + "..";
}

void add_arrays(const Report& report, std::string& text) {
  if (report.evidence->has_record && report.arrays.empty()) {
    text += format("\nNo array of %s or more was allocated.\n",
                   size_text(static_cast<double>(report.evidence->recorded.least_size)).c_str());
  }
  if (report.arrays.empty()) return;
  text += format("\n%-30s %8s %-17s %-17s %-15s %7s\n", "ARRAY", "SIZE", "PAGES BY NODE", "FIRST TOUCH FROM",
                 "USED FROM", "REMOTE");
  size_t shown = 0;
  for (const ArrayRow& row : report.arrays) {
    if (shown++ == kMostArrays) {
      text += format("... and %zu more (--json has all)\n", report.arrays.size() - kMostArrays);
      break;
    }
    std::string name = printable(row.name, row.instances > 1 ? 24 : 30);
    if (row.instances > 1) name += format(" (%llu)", static_cast<unsigned long long>(row.instances));
    const bool used = row.touches > 0;
    text += format("%-30s %8s %-17s %-17s %-15s %7s\n", name.c_str(), size_text(static_cast<double>(row.bytes)).c_str(),
                   row.pages_known ? shares_text(row.pages, 17).c_str() : "?", shares_text(row.first_touch, 17).c_str(),
                   shares_text(row.use, 15).c_str(),
                   used && row.pages_known ? format("%ld %%", std::lround(100 * row.remote)).c_str() : "-");
    if (row.verdict != Verdict::one_node) text += wrapped(row.text, 4);
  }
}

void add_mappings(const Report& report, std::string& text) {
  if (report.mappings.empty()) return;
  text += format("\n%-50s %8s %-10s %s\n", "MAPPED", "SIZE", "POLICY", "BY NODE");
  size_t shown = 0;
  uint64_t rest = 0;
  for (const MappingRow& row : report.mappings) {
    if (shown++ >= kMostMappings) {
      rest += row.sum;
      continue;
    }
    Shares shares;
    for (const auto& [node, bytes] : row.bytes)
      shares[node] = static_cast<double>(bytes) / static_cast<double>(row.sum);
    text +=
        format("%-50s %8s %-10s %s\n", printable(row.kind, 50).c_str(), size_text(static_cast<double>(row.sum)).c_str(),
               printable(row.policy, 10).c_str(), shares_text(shares, 28).c_str());
  }
  if (rest > 0) text += format("%-50s %8s\n", "others", size_text(static_cast<double>(rest)).c_str());
}

void add_threads(const Report& report, std::string& text) {
  const size_t count = report.threads.size();
  if (count == 0) return;
  if (report.nodes.size() == 1) {
    text += format("\n%zu thread%s on the only node.\n", count, count == 1 ? "" : "s");
    return;
  }
  std::map<int, int> by_node;
  for (const Thread& thread : report.threads) {
    if (thread.node >= 0) ++by_node[thread.node];
  }
  std::string bound;
  for (const auto& [node, threads] : by_node) {
    bound += format("%s%d on node %d", bound.empty() ? "" : ", ", threads, node);
  }
  const size_t floating = count - static_cast<size_t>(report.bound);
  text += "\n";
  if (floating == 0) {
    text += wrapped(format("%zu threads, each bound to a node: ", count) + bound, 0);
  } else {
    text += wrapped(format("%zu of %zu threads may run on several nodes (OMP_PROC_BIND=true or weft run --numa spread "
                           "binds those of OpenMP)",
                           floating, count) +
                        (bound.empty() ? "" : "; bound: " + bound),
                    0);
  }
}

}  // namespace

std::string to_text(const Report& report) {
  const Recorded& recorded = report.evidence->recorded;
  std::string text = format("weft numa: process %d (%s)", report.pid, printable(report.command, 40).c_str());
  if (report.seconds > 0) text += format(", %.2f s", report.seconds);
  text += format("; %zu NUMA node%s\n", report.nodes.size(), report.nodes.size() == 1 ? "" : "s");
  if (report.nodes.size() == 1) text += "The machine has one node: there is nothing to place.\n";
  add_arrays(report, text);
  add_mappings(report, text);
  add_threads(report, text);
  const Balancing& balancing = report.balancing;
  if (balancing.known && report.nodes.size() > 1) {
    text += format("Automatic balancing is %s: %lld pages moved on the machine meanwhile, %lld faults for it.\n",
                   balancing.enabled ? "on" : "off", static_cast<long long>(balancing.migrated),
                   static_cast<long long>(balancing.hint_faults));
  }
  if (report.evidence->has_record) {
    text += format("%zu %s seen; looking took %.0f ms.\n", recorded.touches.size(),
                   report.evidence->means != Means::kernel ? "touches"
                   : report.evidence->samples > 0          ? "page faults and memory samples"
                                                           : "page faults",
                   static_cast<double>(recorded.spent) * 1e-6);
  }
  for (const std::string& note : report.notes) text += wrapped("Note: " + note + ".", 0);
  return text;
}

}  // namespace weft::tools::numa
