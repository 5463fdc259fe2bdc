// SPDX-License-Identifier: Apache-2.0
#include "node/divider.h"

#include <algorithm>

#include "platform/cycles.h"
#include "platform/fence.h"

namespace weft::node {

namespace {

// The leader ticks every 5 ms, and comes a little early at times. Others become the leader after three ticks without
// it.
constexpr int64_t kRoundNs = 4'500'000;
constexpr int64_t kNextLeaderNs = 14'000'000;
// Where the CPUs cannot be divided evenly, the ones that are left over go to other processes after this time.
constexpr int64_t kTurnNs = 50'000'000;
// A process whose beat has not changed for so many turns, a second, is stopped.
constexpr uint32_t kStoppedTurns = 20;
// Turns that follow each other are spread evenly: 2^16 divided by the golden ratio.
constexpr uint32_t kNextPhase = 40503;
// A division takes microseconds; a holder that has not let go by then is stopped, or waits for a CPU.
constexpr int64_t kStuckNs = 20'000'000;
// Divisions in a round: few processes may as well divide at each change, which takes them a microsecond. A division
// among many takes longer, and more of them have something to change: in a round twice is enough.
constexpr uint32_t kDivisionsOfOne = 32'768;
constexpr uint32_t kFewestDivisions = 2;
// After so many divisions in a row, during which others have changed something again and again, the next look goes on.
constexpr int kMostInARow = 16;

uint32_t divisions_in_a_round(uint32_t processes) noexcept {
  return std::max(kDivisionsOfOne / std::max(processes * processes, 1u), kFewestDivisions);
}

}  // namespace

Divider::Divider(Segment& segment, int number) noexcept
    : segment_(segment), header_(segment.layout().header), number_(number) {}

// Whether a change is left over. Both loads are sequentially consistent, for the look behind the unlocking: see
// serve().
bool Divider::pending() const noexcept { return header_.changes.load() != header_.divided.load(); }

void Divider::announce(bool for_others) noexcept {
  header_.changes.fetch_add(1);
  platform::full_fence_after_update();
  serve(false, for_others);
}

void Divider::look() noexcept {
  const int64_t now = platform::now_ns();
  // Relaxed: an old one makes the next round come early or late.
  const bool leads = header_.leader.load(std::memory_order_relaxed) == static_cast<uint32_t>(number_) + 1;
  if (!round_.is_mine(header_.rounds, now, leads ? kRoundNs : kNextLeaderNs)) {
    serve(false, false);
    return;
  }
  header_.leader.store(static_cast<uint32_t>(number_) + 1, std::memory_order_relaxed);
  const uint32_t processes = std::min<uint32_t>(header_.processes.load(std::memory_order_relaxed), kMostProcesses);
  header_.divisions_left.store(divisions_in_a_round(processes), std::memory_order_relaxed);
  // The turn has gone on, and the division depends on it: that is a change.
  if (turn_.is_mine(header_.turn, now, kTurnNs)) header_.changes.fetch_add(1);
  serve(true, false);
}

// Two threads that have each counted `changes` up meet at `busy_`, if they are of one process, or at the lock. The
// thread that is refused has counted before it came; the other one looks at `changes` after it has let go. All of these
// steps are sequentially consistent, with full fences where a load follows. So the change is seen.
void Divider::serve(bool in_round, bool for_others) noexcept {
  for (int i = 0; i < kMostInARow && pending(); ++i) {
    // Relaxed: one or two divisions beyond the bound do no harm.
    const uint32_t left = header_.divisions_left.load(std::memory_order_relaxed);
    if (left == 0 && !in_round) return;
    const uint32_t seen = header_.changes.load();
    if (busy_.exchange(true)) return;
    const int64_t now = platform::now_ns();
    Holder mine = 0;
    Holder holder = 0;
    const bool may_take = now - stuck_since_ >= kStuckNs;
    const bool locked = segment_.try_lock_division(mine, may_take ? stuck_ : 0, holder);
    bool done = false;
    if (locked) {
      if (left > 0) header_.divisions_left.store(left - 1, std::memory_order_relaxed);
      done = divide(mine, for_others);
      // Where another process has taken the lock meanwhile, the terms that this one has written may be old: that counts
      // as a change.
      if (!segment_.unlock_division(mine)) header_.changes.fetch_add(1);
      in_round = false;
      stuck_ = 0;
    } else if (holder != stuck_ || now < stuck_since_) {
      stuck_ = holder;
      stuck_since_ = now;
    }
    busy_.store(false);
    platform::full_fence();
    if (!done && header_.changes.load() == seen) return;
  }
}

// One division. Returns false where another process has taken the lock meanwhile, and divides instead.
bool Divider::divide(Holder& mine, bool for_others) noexcept {
  // `changes` is read before all that the division reads, which is relaxed for that: a process writes what it changes
  // before it counts. A change from here on is for the next division.
  const uint32_t seen = header_.changes.load();
  const uint32_t turn = header_.turn.load(std::memory_order_relaxed);
  const int count = collect();
  count_slots();
  // Relaxed, and so is what watch() writes: the lock's holder alone looks at it.
  if (header_.watched.load(std::memory_order_relaxed) != turn) watch();
  for (int i = 0; i < count; ++i) {
    const int number = numbers_[static_cast<size_t>(i)];
    const Record& process = record(number);
    const bool stopped = number != number_ && is_stopped(process);
    const uint32_t missing = stopped ? 0 : std::min<uint32_t>(process.missing.load(), platform::CpuSet::kMost);
    const int slots = stopped ? 0 : slots_of_[static_cast<size_t>(number)];
    demands_[static_cast<size_t>(i)] = {
        .weight = process.weight, .wanted = slots + static_cast<int>(missing), .missing = missing != 0};
  }
  division_.divide(demands_.data(), turn * kNextPhase);
  if (!segment_.holds_division(mine)) return false;
  for (int i = 0; i < count; ++i) tell(numbers_[static_cast<size_t>(i)], demands_[static_cast<size_t>(i)], for_others);
  header_.processes.store(static_cast<uint32_t>(count), std::memory_order_relaxed);
  // The round may have been allowed more divisions, when there were fewer processes.
  const uint32_t most = divisions_in_a_round(static_cast<uint32_t>(count));
  if (header_.divisions_left.load(std::memory_order_relaxed) > most)
    header_.divisions_left.store(most, std::memory_order_relaxed);
  header_.divided.store(seen);
  // Only this process writes the count.
  std::atomic<uint64_t>& divisions = record(number_).divisions;
  divisions.store(divisions.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return true;
}

// Lists the processes that take part. Their CPUs are read anew only if they are not the processes of the last time: the
// CPUs of a process stay the same as long as its serial does.
int Divider::collect() noexcept {
  const int records = static_cast<int>(std::min<uint32_t>(header_.top.load(std::memory_order_relaxed), kMostProcesses));
  int count = 0;
  bool same = true;
  for (int i = 0; i < std::max(records, number_ + 1); ++i) {
    slots_of_[static_cast<size_t>(i)] = 0;
    const uint32_t serial = record(i).serial.load(std::memory_order_acquire);
    if (serial == 0) continue;
    const auto at = static_cast<size_t>(count++);
    same = same && static_cast<int>(at) < count_ && numbers_[at] == i && serials_[at] == serial;
    numbers_[at] = i;
    serials_[at] = serial;
  }
  if (same && count == count_) return count;
  division_.set_processes(count, [this](int i) {
    const platform::CpuSet cpus = cpus_of(record(numbers_[static_cast<size_t>(i)]));
    // Acquire, with the release in move_in(): if any of these CPUs were written by a process that takes the record
    // over, the serial has changed. Then the next division, which the newcomer brings about, reads the CPUs again.
    std::atomic_thread_fence(std::memory_order_acquire);
    uint32_t& serial = serials_[static_cast<size_t>(i)];
    const uint32_t now = record(numbers_[static_cast<size_t>(i)]).serial.load(std::memory_order_relaxed);
    return now == serial ? cpus : (serial = 0, platform::CpuSet{});
  });
  count_ = count;
  return count;
}

// Counts slots by their own words: `held` of a record may be more than that.
void Divider::count_slots() noexcept {
  constexpr uint32_t kMost = platform::CpuSet::kMost;
  const uint32_t top = std::min(header_.top_cpu.load(std::memory_order_relaxed), kMost);
  for (uint32_t cpu = 0; cpu < top; ++cpu) {
    const int owner = record_of(segment_.layout().slots[cpu].load(std::memory_order_relaxed));
    if (owner >= 0) ++slots_of_[static_cast<size_t>(owner)];
  }
}

// Notes, once per turn, which beats have changed. Time is counted in turns, since the processes' clocks may differ.
void Divider::watch() noexcept {
  const uint32_t turn = header_.turn.load(std::memory_order_relaxed);
  header_.watched.store(turn, std::memory_order_relaxed);
  for (int i = 0; i < count_; ++i) {
    Record& process = record(numbers_[static_cast<size_t>(i)]);
    const uint32_t beat = process.beat.load(std::memory_order_relaxed);
    if (beat == process.seen_beat.load(std::memory_order_relaxed)) continue;
    process.seen_beat.store(beat, std::memory_order_relaxed);
    process.seen_turn.store(turn, std::memory_order_relaxed);
  }
}

// Whether the process is stopped. A process that was merely asleep and wants something again has changed its beat.
bool Divider::is_stopped(const Record& process) const noexcept {
  const uint32_t silent =
      header_.turn.load(std::memory_order_relaxed) - process.seen_turn.load(std::memory_order_relaxed);
  return silent > kStoppedTurns &&
         process.beat.load(std::memory_order_relaxed) == process.seen_beat.load(std::memory_order_relaxed);
}

void Divider::tell(int number, const Demand& demand, bool for_others) noexcept {
  Record& other = record(number);
  uint32_t terms = kUnbounded;
  if (demand.pressed || demand.missing) terms = kPressed | static_cast<uint32_t>(std::min(demand.due, 0xffff));
  if (demand.pressed) terms |= kByOthers;
  const uint32_t before = other.terms.load(std::memory_order_relaxed);
  if (terms == before) return;
  other.terms.store(terms, std::memory_order_relaxed);
  if (number == number_ && !for_others) return;
  const int slots = slots_of_[static_cast<size_t>(number)];
  const bool owes = (terms & kPressed) != 0 && slots > demand.due;
  const bool may_have_more = demand.missing && slots < demand.due;
  if (owes || may_have_more) node::ring(other);
}

}  // namespace weft::node
