// SPDX-License-Identifier: Apache-2.0
#include "node/queue.h"

#include <algorithm>

#include "platform/cycles.h"
#include "platform/process.h"

namespace weft::node {

namespace {

// A process holds the lock for microseconds. If it is stopped meanwhile, it must not stop the others.
constexpr int64_t kLockNs = 200'000'000;

}  // namespace

Queue::Queue(Segment& segment, int number, Rule rule, const platform::CpuSet& cpus, Pulse& pulse) noexcept
    : segment_(segment),
      number_(number),
      rule_(rule),
      cpus_(cpus),
      pulse_(pulse),
      ticket_(segment.layout().records[static_cast<size_t>(number)].ticket),
      inside_(segment.layout().records[static_cast<size_t>(number)].inside),
      calls_(segment.layout().records[static_cast<size_t>(number)].calls) {}

void Queue::publish() noexcept {
  ticket_.publish();
  inside_.publish();
  calls_.publish();
}

uint64_t Queue::draw() noexcept {
  // Relaxed: it is but a number.
  return segment_.layout().header.last_ticket.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Visits the other processes that have a ticket of the queue, or regions inside, and that may be waited for.
template <class Visit>
void Queue::visit_others(Visit&& visit) const noexcept {
  Layout& layout = segment_.layout();
  const auto top = std::min<uint32_t>(layout.header.top.load(std::memory_order_relaxed), kMostProcesses);
  const int64_t now = platform::now_ns();
  for (uint32_t i = 0; i < top; ++i) {
    Record& other = layout.records[i];
    if (static_cast<int>(i) == number_ || other.serial.load(std::memory_order_acquire) == 0) continue;
    if (other.rule != rule_) continue;
    if (other.ticket.load(std::memory_order_relaxed) == 0 && other.inside.load(std::memory_order_relaxed) == 0)
      continue;
    platform::CpuSet common = cpus_of(other);
    common.keep_only(cpus_);
    if (common.empty() || pulse_.is_stopped(static_cast<int>(i), other, now)) continue;
    visit(other);
  }
}

bool Queue::is_first(uint64_t ticket) const noexcept {
  bool first = true;
  visit_others([&](const Record& other) {
    const uint64_t theirs = other.ticket.load(std::memory_order_relaxed);
    first = first && (theirs == 0 || theirs > ticket);
  });
  return first;
}

// A region that is larger than the machine fits when it is alone.
bool Queue::fits(int calls) const noexcept {
  auto regions = static_cast<uint64_t>(inside_.get());
  auto sum = static_cast<uint64_t>(calls_.get());
  platform::CpuSet cpus = cpus_;
  visit_others([&](const Record& other) {
    const uint32_t inside = other.inside.load(std::memory_order_relaxed);
    if (inside == 0) return;
    regions += inside;
    sum += other.calls.load(std::memory_order_relaxed);
    cpus.add_all(cpus_of(other));
  });
  if (regions == 0) return true;
  return rule_ == Rule::fitting && sum + static_cast<uint64_t>(calls) <= static_cast<uint64_t>(cpus.count());
}

Record* Queue::first_other() const noexcept {
  Record* first = nullptr;
  uint64_t smallest = 0;
  visit_others([&](Record& other) {
    const uint64_t ticket = other.ticket.load(std::memory_order_relaxed);
    if (ticket == 0 || (first != nullptr && ticket > smallest)) return;
    first = &other;
    smallest = ticket;
  });
  return first;
}

bool Queue::enter(uint64_t ticket, int calls, bool anyway) noexcept {
  const bool locked = segment_.lock_queue(kLockNs);
  const bool enters = !locked || (is_first(ticket) && (anyway || fits(calls)));
  if (enters) {
    inside_.add(1);
    calls_.add(calls);
  }
  ticket_.exchange(enters ? 0 : ticket);
  // There may be room for another region.
  Record* const next = enters && rule_ == Rule::fitting ? first_other() : nullptr;
  if (locked) segment_.unlock_queue();
  if (next != nullptr) ring(*next);
  return enters;
}

void Queue::leave(int calls) noexcept {
  const bool locked = segment_.lock_queue(kLockNs);
  inside_.add(-1);
  calls_.add(-calls);
  Record* const next = first_other();
  if (locked) segment_.unlock_queue();
  if (next != nullptr) ring(*next);
}

bool Queue::others_sleep(int64_t& cpu_time) const noexcept {
  bool asleep = true;
  visit_others([&](const Record& other) {
    if (other.inside.load(std::memory_order_relaxed) == 0) return;
    cpu_time += platform::process_cpu_time(other.pid);
    asleep = asleep && !platform::process_runs(other.pid);
  });
  return asleep;
}

}  // namespace weft::node
