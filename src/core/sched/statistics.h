// SPDX-License-Identifier: Apache-2.0
// What happened, counted by each carrier on a line of its own.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::core {

// A counter with one writer at a time. Relaxed: readers want a recent value, not an order; a plain
// load and store is as cheap as a plain increment.
class Counter {
 public:
  void add(uint64_t amount = 1) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

struct alignas(64) Statistics {
  Counter calls;     // members of parallel calls run by the carrier that published them
  Counter claims;    // members run by another carrier
  Counter switches;  // of context
  Counter steals;    // ready contexts taken from another carrier
  Counter parks;     // times the OS thread went to sleep
  Counter blocks;    // times a context left its stack behind (a started call was promoted)
  Counter lates;     // times the OS thread was without a CPU for long while it waited
  Counter ends;      // members that have ended; those of a root do not count
};

struct Totals {
  uint64_t calls = 0, claims = 0, switches = 0, steals = 0, parks = 0, blocks = 0;
  uint64_t regions_lent =
      0;  // regions that have had threads lent to them from their beginning (core/sched/gang_regions.h)
  uint64_t compensations = 0;  // OS threads lent by the monitor
  int late_threads = 0;  // OS threads that have been without a CPU for long while they waited (core/sched/lateness.h)
  int peak_threads = 0;  // OS threads that carried work: the program's own and workers
  int donors = 0;  // identities beside those of the OS threads that carry work
  int donor_threads = 0;  // how many of them have an OS thread, which is parked
  int peak_donors = 0;
  int donors_ended = 0;  // since nobody needed them, or the program has asked for it
};

// Sums over all carriers; approximate while they run. Thread-safe.
Totals totals() noexcept;

}  // namespace weft::core
