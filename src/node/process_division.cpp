// SPDX-License-Identifier: Apache-2.0
// How a process that misses slots divides them among all, and tells the others.
#include <algorithm>

#include "node/process.h"
#include "platform/cycles.h"
#include "platform/fence.h"

namespace weft::node {

namespace {

// Where CPUs do not come out even, it is another process's turn after so long.
constexpr int64_t kTurnNs = 50'000'000;
// Turns that follow each other are spread evenly: 2^16 divided by the golden ratio.
constexpr uint32_t kNextPhase = 40503;

}  // namespace

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
    if (record(i).serial.load(std::memory_order_acquire) != 0) numbers_[static_cast<size_t>(count++)] = i;
  }
  const int cpus = top_cpu();
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const int owner = record_of(slot_word(cpu).load(std::memory_order_relaxed));
    if (owner >= 0 && owner < records) ++slots_of_[static_cast<size_t>(owner)];
  }
  const int64_t now = platform::now_ns();
  for (int i = 0; i < count; ++i) {
    const int number = numbers_[static_cast<size_t>(i)];
    const Record& process = record(number);
    const bool stopped = number != number_ && pulse_.is_stopped(number, process, now);
    const uint32_t missing = stopped ? 0 : std::min<uint32_t>(process.missing.load(), platform::CpuSet::kMost);
    const int slots = stopped ? 0 : slots_of_[static_cast<size_t>(number)];
    demands_[static_cast<size_t>(i)] = {
        .weight = process.weight, .wanted = slots + static_cast<int>(missing), .missing = missing != 0};
  }
  division_.divide(demands_.data(), count, turn(now) * kNextPhase,
                   [this](int i) { return cpus_of(record(numbers_[static_cast<size_t>(i)])); });
  for (int i = 0; i < count; ++i) tell(numbers_[static_cast<size_t>(i)], demands_[static_cast<size_t>(i)]);
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

void Process::tell(int number, const Demand& demand) noexcept {
  Record& other = record(number);
  const uint32_t terms =
      demand.pressed || demand.missing ? kPressed | static_cast<uint32_t>(std::min(demand.due, 0xffff)) : kUnbounded;
  const uint32_t before = other.terms.load(std::memory_order_relaxed);
  if (terms != before) other.terms.store(terms, std::memory_order_relaxed);
  if (number == number_) return;
  const int slots = slots_of_[static_cast<size_t>(number)];
  const bool owes = (terms & kPressed) != 0 && slots > demand.due;
  const bool may_have_more = demand.missing && slots < demand.due;
  if (terms != before && (owes || may_have_more)) node::ring(other);
}

}  // namespace weft::node
