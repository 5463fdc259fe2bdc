// SPDX-License-Identifier: Apache-2.0
#include "node/status.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <sys/stat.h>
#include <unistd.h>

namespace weft::node {

namespace {

// Texts in the segment may lack their end.
template <size_t Room>
void copy_text(char (&to)[Room], const char (&from)[Room]) {
  std::memcpy(to, from, Room);
  to[Room - 1] = '\0';
}

// Each slot is looked at once: one that changes hands meanwhile is not counted as that of both.
std::vector<Owner> owners_of_slots(const Layout& layout) {
  std::vector<Owner> owners;
  owners.reserve(layout.slots.size());
  for (const auto& slot : layout.slots) owners.push_back(slot.load(std::memory_order_relaxed));
  return owners;
}

int64_t read_bounded(const std::atomic<uint64_t>& word) {
  return static_cast<int64_t>(std::min<uint64_t>(word.load(std::memory_order_relaxed), INT64_MAX));
}

void read_processes(const Layout& layout, std::vector<ProcessStatus>& processes) {
  const std::vector<Owner> owners = owners_of_slots(layout);
  for (size_t i = 0; i < layout.records.size(); ++i) {
    const Record& record = layout.records[i];
    const uint32_t serial = record.serial.load(std::memory_order_acquire);
    if (serial == 0) continue;
    ProcessStatus process;
    process.pid = record.pid.load(std::memory_order_relaxed);
    process.membership = owner_of(serial, static_cast<int>(i));
    copy_text(process.command, record.command);
    copy_text(process.mode, record.mode);
    process.weight = std::clamp(record.weight, 1, kMostWeight);
    process.cpus = cpus_of(record);
    process.held = static_cast<int>(std::count(owners.begin(), owners.end(), owner_of(serial, static_cast<int>(i))));
    process.wanted =
        process.held + static_cast<int>(std::min<uint32_t>(record.missing.load(), platform::CpuSet::kMost));
    process.due = std::clamp(record.most, 0, platform::CpuSet::kMost);
    process.regions = record.regions.load(std::memory_order_relaxed);
    if (record.rule != Rule::all) {
      process.running = static_cast<int>(std::min<uint32_t>(record.inside.load(std::memory_order_relaxed), INT32_MAX));
    }
    process.waited_ns = read_bounded(record.waited_ns);
    process.given = record.given.load(std::memory_order_relaxed);
    process.received = record.received.load(std::memory_order_relaxed);
    process.pending = read_bounded(record.pending);
    process.silent_ns = read_bounded(record.silent_ns);
    processes.push_back(process);
  }
}

void count_shares(std::vector<ProcessStatus>& processes) {
  std::vector<Demand> demands(processes.size());
  for (size_t i = 0; i < demands.size(); ++i) {
    demands[i].weight = processes[i].weight;
    demands[i].wanted = processes[i].due;
  }
  const auto division = std::make_unique<Division>();
  division->set_processes(static_cast<int>(demands.size()),
                          [&](int i) -> const platform::CpuSet& { return processes[static_cast<size_t>(i)].cpus; });
  division->divide(demands.data(), 0);
  for (size_t i = 0; i < demands.size(); ++i) {
    processes[i].due = demands[i].due;
    processes[i].lent = std::max(0, demands[i].due - processes[i].held);
  }
}

}  // namespace

bool read_status(const char* path, NodeStatus& status, Reason& reason) {
  const std::unique_ptr<Segment> segment(Segment::open(path, Segment::Missing::leave, reason));
  if (segment == nullptr) return reason.text[0] == '\0';
  const bool locked = segment->sit() && segment->lock();
  if (locked) status.slots_freed = segment->remove_dead(Check::processes);
  read_processes(segment->layout(), status.processes);
  if (locked && status.processes.empty()) segment->close_and_remove();
  if (locked) segment->unlock();
  count_shares(status.processes);
  return true;
}

Reset reset(const char* path, bool force, int& live, Reason& reason) {
  const std::unique_ptr<Segment> segment(Segment::open(path, Segment::Missing::leave, reason));
  live = 0;
  if (segment == nullptr) {
    if (reason.text[0] == '\0') return Reset::nothing;
    if (reason.about == Reason::About::other) return Reset::failed;
    if (reason.about == Reason::About::unknown && !force) return Reset::refused;
    if (unlink(path) == 0) return Reset::removed;
    if (errno == ENOENT) return Reset::nothing;
    reason.say("%s: %s", path, std::strerror(errno));
    return Reset::failed;
  }
  // The holder of the lock may be stopped; that is no reason to keep what is to go.
  const bool locked = segment->sit() && segment->lock();
  if (locked) segment->remove_dead(Check::processes);
  live = segment->live_count();
  const bool remove = force || (locked && live == 0);
  if (remove) segment->close_and_remove();
  if (locked) segment->unlock();
  return remove ? Reset::removed : Reset::refused;
}

}  // namespace weft::node
