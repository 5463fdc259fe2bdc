// SPDX-License-Identifier: Apache-2.0
#include "top/weft_programs.h"

#include <algorithm>
#include <chrono>
#include <fstream>

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc_file.h"
#include "process_stat.h"

namespace weft::tools {

namespace {

// A process may open a library late, or become another program: so what is not on weft is looked at again, but not each
// time. On a large machine that is nearly everything.
constexpr int kLooksBetween = 10;
// At the first so many of each ten looks, what the others are is looked at, too.
constexpr unsigned kLooksAtOthers = 2;
// CPU time is counted in hundredths of a second: what was used in less time than this cannot be told.
constexpr double kLeastSeconds = 0.2;
// What is left of a sample of one member a few looks later says nothing any more.
constexpr double kLeastMembers = 0.2;
constexpr int kMostAncestors = 64;  // of a process

bool is_own(int pid) {
  static const uid_t kSelf = geteuid();
  struct stat status{};
  return kSelf == 0 || (::stat(("/proc/" + std::to_string(pid)).c_str(), &status) == 0 && status.st_uid == kSelf);
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

// False: it is not on weft. Of such a process nothing else is looked at.
bool WeftPrograms::look_at(int pid, double now, Known& known, ProgramRow& row) {
  if (!known.on_weft && known.looks_left > 0) {
    --known.looks_left;
    return false;
  }
  const auto is_elsewhere = [&] {
    known = Known();
    known.looks_left = kLooksBetween - 1;
    return false;
  };
  ProcessStat stat;
  if (!is_own(pid) || !read_process_stat(pid, stat)) return is_elsewhere();
  if (known.start != stat.start) known = Known();
  if (!known.on_weft || --known.looks_left <= 0) {
    MappedRuntime mapped = mapped_runtime(pid);
    if (!mapped.is_there) return is_elsewhere();
    if (!known.record || mapped.data != known.mapped.data) known.record = std::make_unique<RuntimeRecord>(pid);
    known.mapped = std::move(mapped);
    known.command = command_line_of(pid);
    known.looks_left = kLooksBetween - 1;
  }
  const bool is_known = known.on_weft;
  const double passed = is_known ? now - known.seen : 0;
  row.pid = pid;
  row.start = stat.start;
  row.parent = stat.parent;
  row.name = stat.name;
  look_at_record(passed, known, row);
  if (!is_known || passed >= kLeastSeconds) {
    known.cpus = passed > 0 ? std::max(0.0, stat.used - known.used) / passed : 0;
    known.on_weft = true;
    known.start = stat.start;
    known.used = stat.used;
    known.seen = now;
  }
  row.command = known.command.empty() ? stat.name : known.command;
  row.cpus = known.cpus;
  row.allowed = allowed_cpus(pid);
  row.threads = stat.threads;
  return true;
}

// Before it is noted when the process was looked at.
void WeftPrograms::look_at_record(double passed, Known& known, ProgramRow& row) {
  RuntimeCounts counts;
  row.record = known.record->look(known.mapped, counts);
  if (row.record != RecordState::known) {
    if (row.record == RecordState::missing) {
      // It may be another program by now.
      known.record = std::make_unique<RuntimeRecord>(row.pid);
      known.looks_left = 0;
    }
    known.has_counts = false;
    known.regions.reset();
    known.work.reset();
    return;
  }
  if (passed >= kLeastSeconds) {
    if (known.has_counts) known.regions = static_cast<double>(counts.regions - known.counts.regions) / passed;
    known.work.reset();
    if (known.members >= kLeastMembers) known.work = known.at_work / known.members;
    // What was seen earlier counts less and less.
    known.members /= 2;
    known.at_work /= 2;
  }
  if (passed >= kLeastSeconds || !known.has_counts) {
    known.counts = counts;
    known.has_counts = true;
  }
  row.slots = counts.slots;
  row.tasks = counts.tasks;
  row.messages = counts.messages;
  row.regions = known.regions;
  row.work = known.work;
}

void WeftPrograms::sample() {
  for (auto& [pid, known] : known_) {
    if (!known.on_weft || !known.has_counts) continue;
    const std::optional<WorkSample> sample = known.record->sample();
    known.members += sample ? sample->members : 0;
    known.at_work += sample ? sample->at_work : 0;
  }
}

void WeftPrograms::add_ancestors(ProgramRows& rows) {
  // One that ends leaves its children to others, which is seen. One that becomes another program is seen later.
  if (--looks_at_ancestors_left_ < 0) {
    ancestors_.clear();
    looks_at_ancestors_left_ = kLooksBetween - 1;
  }
  std::map<int, Ancestor> found;
  for (const ProgramRow& row : rows.programs) {
    int pid = row.parent;
    for (int i = 0; i < kMostAncestors && pid > 0 && !found.contains(pid); ++i) {
      const auto before = ancestors_.find(pid);
      Ancestor ancestor = before != ancestors_.end() ? before->second : Ancestor();
      ProcessStat stat;
      if (before == ancestors_.end()) {
        if (!read_process_stat(pid, stat)) break;
        ancestor = {stat.start, stat.parent, stat.name, command_line_of(pid)};
      }
      const int next = ancestor.parent;
      found.emplace(pid, std::move(ancestor));
      pid = next;
    }
  }
  ancestors_ = found;
  for (const ProgramRow& row : rows.programs) found.erase(row.pid);
  rows.ancestors = std::move(found);
}

ProgramRows WeftPrograms::look() {
  ProgramRows rows;
  const double now = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  const double passed = seen_ > 0 ? now - seen_ : 0;
  const double busy = busy_seconds();
  const double up = uptime();
  std::map<int, Known> alive;
  for (const int pid : all_processes()) {
    const auto before = known_.find(pid);
    Known known = before != known_.end() ? std::move(before->second) : Known();
    ProgramRow row;
    if (look_at(pid, now, known, row)) {
      row.seconds = up - ticks_to_seconds(static_cast<double>(row.start));
      rows.programs.push_back(std::move(row));
    }
    alive.emplace(pid, std::move(known));
  }
  known_ = std::move(alive);
  add_ancestors(rows);
  double ours = 0;
  for (const ProgramRow& row : rows.programs) ours += row.cpus;
  if (seen_ == 0 || passed >= kLeastSeconds) {
    if (passed > 0) others_ = std::max(0.0, (busy - busy_) / passed - ours);
    busy_ = busy;
    seen_ = now;
  }
  rows.others = others_;
  if (looks_at_others_++ % unsigned{kLooksBetween} < kLooksAtOthers) {
    std::set<int> ours_too{getpid()};
    for (const ProgramRow& row : rows.programs) ours_too.insert(row.pid);
    busy_programs_ = busiest_.look(ours_too);
  }
  rows.busiest = busy_programs_;
  return rows;
}

}  // namespace weft::tools
