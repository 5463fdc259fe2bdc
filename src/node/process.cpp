// SPDX-License-Identifier: Apache-2.0
#include "node/process.h"

#include <algorithm>
#include <cstdio>
#include <new>

#include "node/guard.h"
#include "platform/cycles.h"
#include "platform/futex.h"
#include "platform/process.h"

namespace weft::node {

namespace {

int end_of(const platform::CpuSet& cpus) noexcept {
  int end = 0;
  for (const int cpu : platform::each(cpus)) end = cpu + 1;
  return end;
}

// Fills in the record. The caller holds the lock, and has the record as its seat.
void move_in(Record& record, const Terms& terms) noexcept {
  // Release, with the acquire of a process that reads these CPUs: it sees that the serial of the last process is gone.
  std::atomic_thread_fence(std::memory_order_release);
  record.weight = terms.weight;
  record.most = terms.most;
  record.rule = terms.rule;
  std::snprintf(record.mode, sizeof record.mode, "%s", terms.mode);
  platform::command_name(record.command, sizeof record.command);
  const auto* words = static_cast<const uint64_t*>(terms.cpus.data());
  for (size_t i = 0; i < record.cpus.size(); ++i) record.cpus[i].store(words[i], std::memory_order_relaxed);
  record.terms.store(kUnbounded, std::memory_order_relaxed);
  for (std::atomic<uint64_t>* number : {&record.regions, &record.waited_ns, &record.given, &record.received,
                                        &record.divisions, &record.pending, &record.silent_ns}) {
    number->store(0, std::memory_order_relaxed);
  }
}

// Opens the segment with a seat and with the lock held; or returns null, and why in `reason`.
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
    // The last process has left meanwhile, and has closed the segment.
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
    tell_of_change(segment->layout().header);
  }
  segment->unlock();
  if (process == nullptr) {
    reason.say("no memory");
    delete segment;
    return nullptr;
  }
  // This process changes the division: the others may miss slots already.
  process->divider_.announce(false);
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
      cpus_begin_(std::max(terms.cpus.first(), 0)),
      queue_(*segment, number_, terms.rule, terms.cpus, pulse_),
      divider_(*segment, number_),
      held_(me_.held),
      missing_(me_.missing),
      next_(first_look()),
      heard_(me_.doorbell.load(std::memory_order_relaxed)) {}

void Process::leave() noexcept {
  left_.store(true);
  // Where the lock is not to be had, the record is cleared by others: they see at the end of this thread that the
  // process has gone.
  if (lost() || !segment_->lock()) return;
  clear(segment_->layout(), number_);
  segment_->remove_dead(Check::marks);
  if (segment_->live_count() == 0) segment_->close_and_remove();
  segment_->unlock();
  segment_->stand_up();
  // Wakes one process that misses slots, which then divides for all. If it does not, others that miss some look by
  // themselves within milliseconds.
  const int records = live_records();
  for (int i = 0; i < records; ++i) {
    if (record(i).serial.load(std::memory_order_relaxed) == 0) continue;
    if (record(i).missing.load(std::memory_order_relaxed) == 0) continue;
    node::ring(record(i));
    return;
  }
}

void Process::resign() noexcept {
  left_.store(true);
  for (std::atomic<Owner>& slot : segment_->layout().slots) {
    Owner mine = owner_;
    slot.compare_exchange_strong(mine, 0);
  }
  uint32_t serial = serial_of(owner_);
  if (me_.serial.compare_exchange_strong(serial, 0)) {
    segment_->layout().header.lacking[static_cast<size_t>(number_) / 64].fetch_and(~(uint64_t{1} << (number_ % 64)));
  }
  tell_of_change(segment_->layout().header);
  segment_->stand_up();
}

int Process::live_records() const noexcept {
  const auto top = std::min<uint32_t>(segment_->layout().header.top.load(std::memory_order_relaxed), kMostProcesses);
  return std::max(static_cast<int>(top), number_ + 1);
}

// The answer stays the same until a process comes or goes. Acquire: the serials are read after `members`.
bool Process::has_neighbours() noexcept {
  const uint32_t members = segment_->layout().header.members.load(std::memory_order_acquire);
  if (looked_for_neighbours_ && members == members_seen_) return neighbours_;
  looked_for_neighbours_ = true;
  members_seen_ = members;
  neighbours_ = false;
  const int records = live_records();
  for (int i = 0; i < records && !neighbours_; ++i) {
    if (i == number_ || record(i).serial.load(std::memory_order_acquire) == 0) continue;
    neighbours_ = shares_cpus_with(record(i));
  }
  return neighbours_;
}

// Compares only the words of the sets that have CPUs of this process.
bool Process::shares_cpus_with(const Record& other) const noexcept {
  const auto* words = static_cast<const uint64_t*>(cpus_.data());
  for (int i = cpus_begin_ / 64; i <= (cpus_end_ - 1) / 64; ++i) {
    if ((other.cpus[static_cast<size_t>(i)].load(std::memory_order_relaxed) & words[i]) != 0) return true;
  }
  return false;
}

bool Process::search_is_due(Check& check) noexcept {
  constexpr int64_t kBetweenSearchesNs = 20'000'000;
  constexpr uint32_t kBetweenLongSearches = 50;
  std::atomic<uint32_t>& searches = segment_->layout().header.searches;
  if (!search_.is_mine(searches, platform::now_ns(), kBetweenSearchesNs)) return false;
  const bool all = searches.load(std::memory_order_relaxed) % kBetweenLongSearches == 0;
  check = all ? Check::processes : Check::marks;
  return true;
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
  constexpr uint32_t kTicksBetweenFullLooks = 16;
  // A process may have been killed between freeing a slot and counting it: so the slots are looked at now and then,
  // whatever the count says.
  if (++ticks_ % kTicksBetweenFullLooks == 0) vain_.store(0, std::memory_order_relaxed);
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
