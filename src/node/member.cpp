// SPDX-License-Identifier: Apache-2.0
#include "node/member.h"

#include <algorithm>
#include <cstdio>
#include <new>

#include <unistd.h>

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
constexpr uint64_t kNextPhase = 40503;

bool may_use(const Record& record, int cpu) noexcept {
  return (record.cpus[static_cast<size_t>(cpu) / 64].load(std::memory_order_relaxed) >> (cpu % 64) & 1) != 0;
}

// The lock is held and the record is nobody's.
bool move_in(Record& record, const Terms& terms) noexcept {
  record.pid = getpid();
  record.start = platform::process_start(record.pid);
  record.weight = terms.weight;
  record.most = terms.most;
  record.rule = terms.rule;
  std::snprintf(record.mode, sizeof record.mode, "%s", terms.mode);
  platform::command_name(record.command, sizeof record.command);
  const auto* words = static_cast<const uint64_t*>(terms.cpus.data());
  for (size_t i = 0; i < record.cpus.size(); ++i) record.cpus[i].store(words[i], std::memory_order_relaxed);
  record.terms.store(kUnbounded, std::memory_order_relaxed);
  record.missing.store(0, std::memory_order_relaxed);
  record.held.store(0, std::memory_order_relaxed);
  for (std::atomic<uint64_t>* counter : {&record.regions, &record.waited_ns, &record.given, &record.received}) {
    counter->store(0, std::memory_order_relaxed);
  }
  record.beat.store(platform::now_ns(), std::memory_order_relaxed);
  record.ticket.store(0, std::memory_order_relaxed);
  record.asked.store(0, std::memory_order_relaxed);
  record.inside.store(0, std::memory_order_relaxed);
  record.calls.store(0, std::memory_order_relaxed);
  return init_shared(&record.life) && pthread_mutex_lock(&record.life) == 0;
}

}  // namespace

Member* Member::join(const char* path, const Terms& terms, Reason& reason) noexcept {
  Segment* segment = nullptr;
  for (;;) {
    segment = Segment::open(path, Segment::Missing::make, reason);
    if (segment == nullptr) return nullptr;
    if (!segment->lock()) {
      reason.say("%s is locked by a process that does not go on; `weft node reset --force` removes it", path);
      delete segment;
      return nullptr;
    }
    if (!segment->closed()) break;
    // The last one has left meanwhile.
    segment->unlock();
    delete segment;
  }
  Header& header = segment->layout().header;
  auto& records = segment->layout().records;
  const auto find_free = [&](Segment::Check check) {
    segment->remove_dead(check);
    return std::find_if(records.begin(), records.end(),
                        [](const Record& record) { return record.serial.load(std::memory_order_relaxed) == 0; });
  };
  // Hundreds may come at once, and each has the lock meanwhile; so the thorough look only where it matters.
  auto* free = find_free(Segment::Check::marks);
  if (free == records.end()) free = find_free(Segment::Check::processes);
  Member* member = nullptr;
  if (free == records.end()) {
    reason.say("%d processes share the node already", kMostProcesses);
  } else if (!move_in(*free, terms)) {
    reason.say("%s: no lock can be made there", path);
  } else {
    const auto number = static_cast<uint32_t>(free - records.begin());
    int top_cpu = 0;
    for (const int cpu : platform::each(terms.cpus)) top_cpu = cpu + 1;
    header.top_cpu.store(std::max(header.top_cpu.load(std::memory_order_relaxed), static_cast<uint32_t>(top_cpu)),
                         std::memory_order_relaxed);
    header.top.store(std::max(header.top.load(std::memory_order_relaxed), number + 1), std::memory_order_relaxed);
    free->last_serial = std::max(free->last_serial + 1, 1u);
    free->serial.store(free->last_serial, std::memory_order_release);
    member = new (std::nothrow) Member(segment, static_cast<int>(number), terms);
    if (member == nullptr) {
      reason.say("no memory");
      segment->clear(static_cast<int>(number));
      pthread_mutex_unlock(&free->life);
    }
  }
  segment->unlock();
  if (member == nullptr) {
    delete segment;
    return nullptr;
  }
  // Others may miss slots already.
  member->divide_once();
  return member;
}

Member::Member(Segment* segment, int record, const Terms& terms) noexcept
    : segment_(segment),
      queue_(*segment, record),
      me_(segment->layout().records[static_cast<size_t>(record)]),
      number_(record),
      owner_(owner_of(me_.serial.load(std::memory_order_relaxed), record)),
      cpus_(terms.cpus),
      most_(std::min(terms.most, terms.cpus.count())),
      next_(std::max(terms.cpus.first(), 0)),
      heard_(me_.doorbell.load(std::memory_order_relaxed)) {}

void Member::leave() noexcept {
  left_.store(true);
  // Without the lock the end of this thread says the same a moment later.
  if (lost() || !segment_->lock()) return;
  segment_->clear(number_);
  pthread_mutex_unlock(&me_.life);
  segment_->remove_dead(Segment::Check::marks);
  if (segment_->live_count() == 0) segment_->close_and_remove();
  segment_->unlock();
  const int records = live_records();
  for (int i = 0; i < records; ++i) {
    if (record(i).missing.load(std::memory_order_relaxed) != 0) node::ring(record(i));
  }
}

int Member::live_records() const noexcept {
  return static_cast<int>(
      std::min<uint32_t>(segment_->layout().header.top.load(std::memory_order_relaxed), kMostProcesses));
}

int Member::take() noexcept {
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
  unreserve();
  return -1;
}

// Counts one more slot, if there may be one.
bool Member::reserve() noexcept {
  if (left_.load(std::memory_order_relaxed)) return false;
  const uint32_t terms = me_.terms.load(std::memory_order_relaxed);
  const int bound = (terms & kPressed) != 0 ? std::min(most_, due_of(terms)) : most_;
  int held = held_.load(std::memory_order_relaxed);
  do {
    if (held >= bound) return false;
  } while (!held_.compare_exchange_weak(held, held + 1, std::memory_order_relaxed));
  me_.held.store(static_cast<uint32_t>(held + 1), std::memory_order_relaxed);
  return true;
}

void Member::unreserve() noexcept {
  const int held = held_.fetch_sub(1, std::memory_order_relaxed) - 1;
  me_.held.store(static_cast<uint32_t>(std::max(held, 0)), std::memory_order_relaxed);
}

void Member::give(int slot) noexcept {
  Owner mine = owner_;
  const bool had = slot_word(slot).compare_exchange_strong(mine, 0);
  unreserve();
  if (!had) return;
  next_.store(slot, std::memory_order_relaxed);
  platform::full_fence_after_update();
  // Several threads of the process may count at once, and then one of them is lost.
  if (pressed() && ring_neediest(slot)) add(me_.given, 1);
}

bool Member::owns(int slot) const noexcept { return slot_word(slot).load(std::memory_order_relaxed) == owner_; }

int Member::take_away() noexcept {
  if (!reserve()) return -1;
  int slot = take_from([this](int owner) { return is_over(owner); });
  if (slot < 0) slot = take_from([this](int owner) { return could_move(owner); });
  if (slot < 0) unreserve();
  return slot;
}

// A slot that is free or whose owner, by number, is one that `may_lose` it.
template <class MayLose>
int Member::take_from(MayLose&& may_lose) noexcept {
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

bool Member::is_over(int number) const noexcept {
  const Record& other = record(number);
  const uint32_t terms = other.terms.load(std::memory_order_relaxed);
  return (terms & kPressed) != 0 && static_cast<int>(other.held.load(std::memory_order_relaxed)) > due_of(terms);
}

// Whether there is a free slot for it instead, or one whose owner can move on in the same way. It may be the only one
// that has no other CPU who asks.
bool Member::could_move(int number) const noexcept {
  platform::CpuSet reach = cpus_of(record(number));
  for (bool grows = true; grows;) {
    const platform::CpuSet before = reach;
    for (const int slot : platform::each(before)) {
      const Owner owner = slot_word(slot).load(std::memory_order_relaxed);
      if (owner == 0) return true;
      if (const int other = record_of(owner); other >= 0) reach.add_all(cpus_of(record(other)));
    }
    grows = !(reach == before);
  }
  return false;
}

void Member::want(int missing) noexcept {
  const int before = missing_.exchange(missing, std::memory_order_relaxed);
  if (missing == 0 && before == 0 && !pressed()) return;
  beat();
  me_.missing.store(static_cast<uint32_t>(missing));
  divide_once();
  // Between the terms that have been written and the look at the slots that follows.
  platform::full_fence();
}

void Member::beat() noexcept { me_.beat.store(platform::now_ns(), std::memory_order_relaxed); }

void Member::divide_once() noexcept {
  if (division_asked_.fetch_add(1) != 0) return;
  uint32_t served = 0;
  do {
    served = division_asked_.load();
    divide();
  } while (!division_asked_.compare_exchange_strong(served, 0));
}

void Member::divide() noexcept {
  const int records = live_records();
  int count = 0;
  for (int i = 0; i < records; ++i) {
    slots_of_[static_cast<size_t>(i)] = 0;
    if (record(i).serial.load(std::memory_order_acquire) != 0) claimants_[static_cast<size_t>(count++)] = i;
  }
  const int cpus = static_cast<int>(
      std::min<uint32_t>(segment_->layout().header.top_cpu.load(std::memory_order_relaxed), platform::CpuSet::kMost));
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const int owner = record_of(slot_word(cpu).load(std::memory_order_relaxed));
    if (owner >= 0 && owner < records) ++slots_of_[static_cast<size_t>(owner)];
  }
  const int64_t now = platform::now_ns();
  for (int i = 0; i < count; ++i) {
    const Record& claimant = record(claimants_[static_cast<size_t>(i)]);
    const bool stopped = is_stopped(claimant, now);
    const uint32_t missing = stopped ? 0 : std::min<uint32_t>(claimant.missing.load(), platform::CpuSet::kMost);
    const int slots = stopped ? 0 : slots_of_[static_cast<size_t>(claimants_[static_cast<size_t>(i)])];
    claims_[static_cast<size_t>(i)] = {.weight = std::clamp(claimant.weight, 1, 10'000),
                                       .wanted = slots + static_cast<int>(missing),
                                       .missing = missing != 0};
  }
  const auto turn = static_cast<uint64_t>(now / kTurnNs);
  division_.divide(claims_.data(), count, static_cast<uint32_t>(turn * kNextPhase),
                   [this](int i) { return cpus_of(record(claimants_[static_cast<size_t>(i)])); });
  for (int i = 0; i < count; ++i) tell(claimants_[static_cast<size_t>(i)], claims_[static_cast<size_t>(i)]);
}

void Member::tell(int number, const Claim& claim) noexcept {
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

bool Member::ring_neediest(int slot) noexcept {
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

bool Member::wait(int64_t ns) noexcept {
  if (me_.doorbell.load(std::memory_order_acquire) == heard_) platform::futex_wait_shared(me_.doorbell, heard_, ns);
  const uint32_t now = me_.doorbell.load(std::memory_order_acquire);
  const bool rung = now != heard_;
  heard_ = now;
  return rung;
}

int Member::remove_dead(Segment::Check check) noexcept {
  // Somebody who has the lock does the same, or comes or goes.
  if (lost() || !segment_->try_lock()) return 0;
  const int freed = segment_->remove_dead(check);
  segment_->unlock();
  return freed;
}

bool Member::lost() const noexcept {
  return mapping_lost() || segment_->closed() || me_.serial.load(std::memory_order_relaxed) != serial_of(owner_);
}

void Member::count_waited(int64_t ns) noexcept { add(me_.waited_ns, static_cast<uint64_t>(std::max<int64_t>(ns, 0))); }

}  // namespace weft::node
