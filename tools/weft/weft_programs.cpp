// SPDX-License-Identifier: Apache-2.0
#include "weft_programs.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process_stat.h"

namespace weft::tools {

namespace {

// A process may open a library late, or become another program: so what is not on weft is looked at again, but not each
// time. On a large machine that is nearly everything.
constexpr int kLooksBetween = 10;
// CPU time is counted in hundredths of a second: what was used in less time than this cannot be told.
constexpr double kLeastSeconds = 0.2;

bool maps_weft(int pid) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    const size_t folder = line.find("/weft/");
    if (folder != std::string::npos && line.find("/libgomp.so", folder) != std::string::npos) return true;
  }
  return false;
}

bool is_own(const std::string& folder) {
  struct stat status{};
  return geteuid() == 0 || (::stat(folder.c_str(), &status) == 0 && status.st_uid == geteuid());
}

std::string name_of_process(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

int allowed_cpus(int pid) {
  cpu_set_t mask;
  return sched_getaffinity(pid, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 0;
}

// Of all CPUs: user, nice, system, irq, softirq and steal.
double busy_seconds() {
  std::ifstream file("/proc/stat");
  std::string word;
  std::vector<double> fields(8, 0);
  file >> word;
  for (double& field : fields) file >> field;
  return ticks_to_seconds(fields[0] + fields[1] + fields[2] + fields[5] + fields[6] + fields[7]);
}

double uptime() {
  std::ifstream file("/proc/uptime");
  double seconds = 0;
  file >> seconds;
  return seconds;
}

}  // namespace

WeftPrograms::Known WeftPrograms::look_at(int pid, double now) {
  // Of what is not on weft nothing else is looked at.
  constexpr Known kElsewhere{.looks_left = kLooksBetween - 1};
  const auto before = known_.find(pid);
  Known known = before != known_.end() ? before->second : Known();
  if (!known.on_weft && known.looks_left > 0) {
    --known.looks_left;
    return known;
  }
  ProcessStat stat;
  if (!is_own("/proc/" + std::to_string(pid)) || !read_process_stat(pid, stat)) return kElsewhere;
  const bool is_known = known.on_weft && known.start == stat.start;
  if (!is_known || --known.looks_left <= 0) {
    if (!maps_weft(pid)) return kElsewhere;
    known.looks_left = kLooksBetween - 1;
  }
  const double passed = is_known ? now - known.seen : 0;
  if (is_known && passed < kLeastSeconds) return known;
  known.cpus = passed > 0 ? std::max(0.0, stat.used - known.used) / passed : 0;
  known.on_weft = true;
  known.start = stat.start;
  known.used = stat.used;
  known.seen = now;
  known.threads = stat.threads;
  return known;
}

ProgramRows WeftPrograms::look() {
  ProgramRows rows;
  const double now = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  const double passed = seen_ > 0 ? now - seen_ : 0;
  const double busy = busy_seconds();
  const double up = uptime();
  std::map<int, Known> alive;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string number = entry.path().filename();
    if (number.find_first_not_of("0123456789") != std::string::npos) continue;
    const int pid = std::stoi(number);
    const Known known = look_at(pid, now);
    if (known.on_weft)
      rows.programs.push_back({pid, name_of_process(pid), known.cpus, allowed_cpus(pid), known.threads,
                               up - ticks_to_seconds(static_cast<double>(known.start))});
    alive.emplace(pid, known);
  }
  known_ = std::move(alive);
  double ours = 0;
  for (const ProgramRow& row : rows.programs) ours += row.cpus;
  if (seen_ == 0 || passed >= kLeastSeconds) {
    if (passed > 0) others_ = std::max(0.0, (busy - busy_) / passed - ours);
    busy_ = busy;
    seen_ = now;
  }
  rows.others = others_;
  return rows;
}

}  // namespace weft::tools
