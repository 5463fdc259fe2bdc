// SPDX-License-Identifier: Apache-2.0
#include "cpu_users.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "proc_file.h"
#include "process_stat.h"

namespace weft::tools {

namespace {

constexpr size_t kMost = 3;
// Less of a CPU is nobody's who takes them.
constexpr double kLeast = 0.05;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

std::string shown(const std::vector<CpuUser>& programs) {
  std::string text;
  for (const CpuUser& program : programs) {
    text += (text.empty() ? "" : ", ") + program.name + ' ' + std::to_string(std::lround(100 * program.cpus)) + '%';
  }
  return text;
}

std::vector<CpuUser> CpuUsers::look(const std::set<pid_t>& without) {
  const double before = std::exchange(when_, now());
  std::map<pid_t, Seen> seen;
  std::map<std::string, double> used;
  for (const pid_t process : all_processes()) {
    ProcessStat stat;
    if (!read_process_stat(process, stat)) continue;
    seen[process] = {stat.start, stat.used};
    const auto earlier = seen_.find(process);
    if (earlier == seen_.end() || earlier->second.start != stat.start || without.contains(process)) continue;
    used[stat.name] += stat.used - earlier->second.used;
  }
  seen_ = std::move(seen);
  std::vector<CpuUser> found;
  for (const auto& [name, seconds] : used) {
    const double cpus = before > 0 && when_ > before ? seconds / (when_ - before) : 0;
    if (cpus >= kLeast) found.push_back({name, cpus});
  }
  std::sort(found.begin(), found.end(), [](const CpuUser& a, const CpuUser& b) { return a.cpus > b.cpus; });
  if (found.size() > kMost) found.resize(kMost);
  return found;
}

}  // namespace weft::tools
