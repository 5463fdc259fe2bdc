// SPDX-License-Identifier: Apache-2.0
#include "node/process.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <utility>

#include "node/guard.h"
#include "platform/cycles.h"
#include "platform/fence.h"
#include "platform/futex.h"
#include "platform/process.h"

namespace weft::node {

namespace {

// Where CPUs do not come out even, it is another process's turn after so long.
constexpr int64_t kTurnNs = 50'000'000;
// Turns that follow each other are spread evenly: 2^16 divided by the golden ratio.
constexpr uint32_t kNextPhase = 40503;

bool may_use(const Record& record, int cpu) noexcept {
  return (record.cpus[static_cast<size_t>(cpu) / 64].load(std::memory_order_relaxed) >> (cpu % 64) & 1) != 0;
}

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
  for (std::atomic<uint64_t>* counter : {&record.regions, &record.waited_ns, &record.given, &record.received}) {
    counter->store(0, std::memory_order_relaxed);
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

int Process::take() noexcept {
  if (!reserve()) return -1;
  const int first = next_.load(std::memory_order_relaxed);
  int slot = first;
  do {
    std::atomic<Owner>& word = slot_word(slot);
    Owner nobody = 0;
    if (word.load(std::memory_order_relaxed) == 0 && word.compare_exchange_strong(nobody, owner_)) {
      beat();
      return slot;
    }
    slot = cpus_.next(slot + 1);
    if (slot < 0) slot = cpus_.first();
  } while (slot != first);
  held_.add(-1);
  return -1;
}

// Counts one more slot, if there may be one.
bool Process::reserve() noexcept {
  if (left_.load(std::memory_order_relaxed)) return false;
  const uint32_t terms = me_.terms.load(std::memory_order_relaxed);
  const int bound = (terms & kPressed) != 0 ? std::min(most_, due_of(terms)) : most_;
  return held_.add_one_below(bound);
}

void Process::give(int slot) noexcept {
  Owner mine = owner_;
  const bool had = slot_word(slot).compare_exchange_strong(mine, 0);
  held_.add(-1);
  if (!had) return;
  next_.store(slot, std::memory_order_relaxed);
  platform::full_fence_after_update();
  // Several threads of the process may count at once, and then one of them is lost.
  if (pressed() && ring_neediest(slot)) add(me_.given, 1);
}

bool Process::owns(int slot) const noexcept { return slot_word(slot).load(std::memory_order_relaxed) == owner_; }

int Process::take_away() noexcept {
  if (!reserve()) return -1;
  int slot = take_from([this](int owner) { return is_over(owner); });
  if (slot < 0) slot = take_from([this](int owner) { return could_move(owner); });
  if (slot < 0) held_.add(-1);
  return slot;
}

// A slot that is free or whose owner, by number, is one that `may_lose` it.
template <class MayLose>
int Process::take_from(MayLose&& may_lose) noexcept {
  for (const int slot : platform::each(cpus_)) {
    std::atomic<Owner>& word = slot_word(slot);
    Owner owner = word.load(std::memory_order_relaxed);
    const int number = record_of(owner);
    if (owner == owner_ || (owner != 0 && (number < 0 || !may_lose(number)))) continue;
    if (!word.compare_exchange_strong(owner, owner_)) continue;
    if (owner != 0) node::ring(record(number));
    return slot;
  }
  return -1;
}

bool Process::is_over(int number) const noexcept {
  const Record& other = record(number);
  const uint32_t terms = other.terms.load(std::memory_order_relaxed);
  return (terms & kPressed) != 0 && static_cast<int>(other.held.load(std::memory_order_relaxed)) > due_of(terms);
}

// Whether there is a free slot for it instead, or one whose owner can move on in the same way. The process that asks
// may be the only one that has no other CPU. Each CPU is looked at once, and so is each owner.
bool Process::could_move(int number) const noexcept {
  std::array<bool, kMostProcesses> followed{};
  followed[static_cast<size_t>(number)] = true;
  platform::CpuSet fresh = cpus_of(record(number));
  platform::CpuSet seen = fresh;
  while (!fresh.empty()) {
    platform::CpuSet reach;
    for (const int slot : platform::each(fresh)) {
      const Owner owner = slot_word(slot).load(std::memory_order_relaxed);
      if (owner == 0) return true;
      const int other = record_of(owner);
      if (other < 0 || std::exchange(followed[static_cast<size_t>(other)], true)) continue;
      reach.add_all(cpus_of(record(other)));
    }
    reach.remove_all(seen);
    seen.add_all(reach);
    fresh = reach;
  }
  return false;
}

void Process::want(int missing) noexcept {
  const int before = missing_.exchange(missing);
  if (missing == 0 && before == 0 && !pressed()) return;
  beat();
  divide_once();
  // Between the terms that have been written and the look at the slots that follows.
  platform::full_fence();
}

void Process::divide_once() noexcept {
  if (division_asked_.fetch_add(1) != 0) return;
  uint32_t served = 0;
  do {
    served = division_asked_.load();
    divide();
  } while (!division_asked_.compare_exchange_strong(served, 0));
}

void Process::divide() noexcept {
  const int records = live_records();
  int count = 0;
  for (int i = 0; i < records; ++i) {
    slots_of_[static_cast<size_t>(i)] = 0;
    if (record(i).serial.load(std::memory_order_acquire) != 0) claimants_[static_cast<size_t>(count++)] = i;
  }
  const int cpus = top_cpu();
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const int owner = record_of(slot_word(cpu).load(std::memory_order_relaxed));
    if (owner >= 0 && owner < records) ++slots_of_[static_cast<size_t>(owner)];
  }
  const int64_t now = platform::now_ns();
  for (int i = 0; i < count; ++i) {
    const int number = claimants_[static_cast<size_t>(i)];
    const Record& claimant = record(number);
    const bool stopped = number != number_ && pulse_.is_stopped(number, claimant, now);
    const uint32_t missing = stopped ? 0 : std::min<uint32_t>(claimant.missing.load(), platform::CpuSet::kMost);
    const int slots = stopped ? 0 : slots_of_[static_cast<size_t>(number)];
    claims_[static_cast<size_t>(i)] = {
        .weight = claimant.weight, .wanted = slots + static_cast<int>(missing), .missing = missing != 0};
  }
  division_.divide(claims_.data(), count, turn(now) * kNextPhase,
                   [this](int i) { return cpus_of(record(claimants_[static_cast<size_t>(i)])); });
  for (int i = 0; i < count; ++i) tell(claimants_[static_cast<size_t>(i)], claims_[static_cast<size_t>(i)]);
}

// All divide by the same turn, whatever their clocks say: each counts how long it has seen it, and the first to whom
// that is long enough begins the next.
uint32_t Process::turn(int64_t now) noexcept {
  std::atomic<uint32_t>& shared = segment_->layout().header.turn;
  uint32_t seen = shared.load(std::memory_order_relaxed);
  const int64_t passed = now - turn_since_;
  if (seen == turn_ && passed >= 0 && passed < kTurnNs) return turn_;
  if (seen == turn_ && passed >= 0 && shared.compare_exchange_strong(seen, turn_ + 1, std::memory_order_relaxed))
    ++seen;
  turn_ = seen;
  turn_since_ = now;
  return turn_;
}

void Process::tell(int number, const Claim& claim) noexcept {
  Record& other = record(number);
  const uint32_t terms =
      claim.pressed || claim.missing ? kPressed | static_cast<uint32_t>(std::min(claim.due, 0xffff)) : kUnbounded;
  const uint32_t before = other.terms.load(std::memory_order_relaxed);
  if (terms != before) other.terms.store(terms, std::memory_order_relaxed);
  if (number == number_) return;
  const int slots = slots_of_[static_cast<size_t>(number)];
  const bool owes = (terms & kPressed) != 0 && slots > claim.due;
  const bool may_have_more = claim.missing && slots < claim.due;
  if (terms != before && (owes || may_have_more)) node::ring(other);
}

bool Process::ring_neediest(int slot) noexcept {
  const int records = live_records();
  int neediest = -1;
  int most = 0;
  for (int i = 0; i < records; ++i) {
    const Record& other = record(i);
    if (i == number_ || other.serial.load(std::memory_order_relaxed) == 0) continue;
    if (other.missing.load() == 0 || !may_use(other, slot)) continue;
    const int lacks = due_of(other.terms.load(std::memory_order_relaxed)) -
                      static_cast<int>(other.held.load(std::memory_order_relaxed));
    if (neediest >= 0 && lacks <= most) continue;
    neediest = i;
    most = lacks;
  }
  if (neediest >= 0) node::ring(record(neediest));
  return neediest >= 0;
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

}  // namespace weft::node
