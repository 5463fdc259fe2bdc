// SPDX-License-Identifier: Apache-2.0
#include "node/process.h"

#include <algorithm>
#include <cstdio>
#include <new>

#include "node/guard.h"
#include "platform/futex.h"
#include "platform/process.h"

namespace weft::node {

namespace {

int end_of(const platform::CpuSet& cpus) noexcept {
  int end = 0;
  for (const int cpu : platform::each(cpus)) end = cpu + 1;
  return end;
}

// The lock is held and the seat is taken.
void move_in(Record& record, const Terms& terms) noexcept {
  record.weight = terms.weight;
  record.most = terms.most;
  record.rule = terms.rule;
  std::snprintf(record.mode, sizeof record.mode, "%s", terms.mode);
  platform::command_name(record.command, sizeof record.command);
  const auto* words = static_cast<const uint64_t*>(terms.cpus.data());
  for (size_t i = 0; i < record.cpus.size(); ++i) record.cpus[i].store(words[i], std::memory_order_relaxed);
  record.terms.store(kUnbounded, std::memory_order_relaxed);
  for (std::atomic<uint64_t>* number :
       {&record.regions, &record.waited_ns, &record.given, &record.received, &record.pending, &record.silent_ns}) {
    number->store(0, std::memory_order_relaxed);
  }
}

// The lock is held then. Null, and why in `reason`.
Segment* open_locked(const char* path, Reason& reason) noexcept {
  for (int i = 0; i < kTries; ++i) {
    Segment* segment = Segment::open(path, Segment::Missing::make, reason);
    if (segment == nullptr) return nullptr;
    const bool seated = segment->sit();
    const bool locked = seated && segment->lock();
    if (locked && !segment->closed()) return segment;
    if (locked) segment->unlock();
    delete segment;
    if (!seated) {
      reason.say("%d processes share the node already", kMostProcesses);
      return nullptr;
    }
    if (!locked) {
      reason.say("%s is locked by a process that does not go on; `weft node reset --force` removes it", path);
      return nullptr;
    }
    // The last one has left meanwhile.
  }
  reason.say("%s is removed again and again", path);
  return nullptr;
}

}  // namespace

Process* Process::join(const char* path, const Terms& terms, Reason& reason) noexcept {
  Segment* const segment = open_locked(path, reason);
  if (segment == nullptr) return nullptr;
  segment->remove_dead(Check::marks);
  const int number = segment->seat().number();
  Record& record = segment->layout().records[static_cast<size_t>(number)];
  move_in(record, terms);
  record.last_serial = std::max(record.last_serial + 1, 1u);
  Process* const process = new (std::nothrow) Process(segment, record.last_serial, terms);
  if (process != nullptr) {
    process->tick();
    record.serial.store(record.last_serial, std::memory_order_release);
  }
  segment->unlock();
  if (process == nullptr) {
    reason.say("no memory");
    delete segment;
    return nullptr;
  }
  // Others may miss slots already.
  process->divide_once();
  return process;
}

Process::Process(Segment* segment, uint32_t serial, const Terms& terms) noexcept
    : segment_(segment),
      me_(segment->layout().records[static_cast<size_t>(segment->seat().number())]),
      number_(segment->seat().number()),
      owner_(owner_of(serial, number_)),
      cpus_(terms.cpus),
      cpus_end_(end_of(terms.cpus)),
      most_(std::min(terms.most, terms.cpus.count())),
      queue_(*segment, number_, terms.rule, terms.cpus, pulse_),
      held_(me_.held),
      missing_(me_.missing),
      next_(std::max(terms.cpus.first(), 0)),
      heard_(me_.doorbell.load(std::memory_order_relaxed)) {}

void Process::leave() noexcept {
  left_.store(true);
  // Without the lock the end of this thread says the same a moment later.
  if (lost() || !segment_->lock()) return;
  clear(segment_->layout(), number_);
  segment_->remove_dead(Check::marks);
  if (segment_->live_count() == 0) segment_->close_and_remove();
  segment_->unlock();
  segment_->stand_up();
  const int records = live_records();
  for (int i = 0; i < records; ++i) {
    if (record(i).missing.load(std::memory_order_relaxed) != 0) node::ring(record(i));
  }
}

void Process::resign() noexcept {
  left_.store(true);
  for (std::atomic<Owner>& slot : segment_->layout().slots) {
    Owner mine = owner_;
    slot.compare_exchange_strong(mine, 0);
  }
  uint32_t serial = serial_of(owner_);
  me_.serial.compare_exchange_strong(serial, 0);
  segment_->stand_up();
}

int Process::live_records() const noexcept {
  const auto top = std::min<uint32_t>(segment_->layout().header.top.load(std::memory_order_relaxed), kMostProcesses);
  return std::max(static_cast<int>(top), number_ + 1);
}

int Process::top_cpu() const noexcept {
  constexpr uint32_t kMost = platform::CpuSet::kMost;
  const uint32_t top = std::min(segment_->layout().header.top_cpu.load(std::memory_order_relaxed), kMost);
  return std::max(static_cast<int>(top), cpus_end_);
}

bool Process::has_neighbours() const noexcept {
  const int records = live_records();
  for (int i = 0; i < records; ++i) {
    if (i == number_ || record(i).serial.load(std::memory_order_acquire) == 0) continue;
    platform::CpuSet common = cpus_of(record(i));
    common.keep_only(cpus_);
    if (!common.empty()) return true;
  }
  return false;
}

void Process::raise_tops() noexcept {
  Header& header = segment_->layout().header;
  const auto raise = [](std::atomic<uint32_t>& word, int to) {
    uint32_t seen = word.load(std::memory_order_relaxed);
    while (seen < static_cast<uint32_t>(to) &&
           !word.compare_exchange_weak(seen, static_cast<uint32_t>(to), std::memory_order_relaxed)) {
    }
  };
  raise(header.top, number_ + 1);
  raise(header.top_cpu, cpus_end_);
}

void Process::tick() noexcept {
  beat();
  raise_tops();
  held_.publish();
  missing_.publish();
  queue_.publish();
}

bool Process::wait(int64_t ns) noexcept {
  if (me_.doorbell.load(std::memory_order_acquire) == heard_) platform::futex_wait_shared(me_.doorbell, heard_, ns);
  const uint32_t now = me_.doorbell.load(std::memory_order_acquire);
  const bool rung = now != heard_;
  heard_ = now;
  return rung;
}

int Process::remove_dead(Check check) noexcept {
  // The process that has the lock does the same, or comes or goes.
  if (lost() || !segment_->try_lock()) return 0;
  const int freed = segment_->remove_dead(check);
  segment_->unlock();
  return freed;
}

bool Process::lost() const noexcept {
  return mapping_lost() || segment_->closed() || !segment_->intact() || !segment_->seat().is_own() ||
         me_.serial.load(std::memory_order_relaxed) != serial_of(owner_);
}

void Process::count_waited(int64_t ns) noexcept { add(me_.waited_ns, static_cast<uint64_t>(std::max<int64_t>(ns, 0))); }

void Process::tell_pending(int64_t pending, int64_t silent_ns) noexcept {
  me_.pending.store(static_cast<uint64_t>(std::max<int64_t>(pending, 0)), std::memory_order_relaxed);
  me_.silent_ns.store(static_cast<uint64_t>(std::max<int64_t>(silent_ns, 0)), std::memory_order_relaxed);
}

}  // namespace weft::node
