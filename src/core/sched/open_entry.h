// SPDX-License-Identifier: Apache-2.0
// An entry of a carrier's table of parallel calls with members to claim: the call is offered to every carrier, or kept
// for the carrier itself (core/sched/brief_calls.h). Others pass over a kept one without a look at its record, whose
// line its carrier updates. Internal to core.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/sched/parallel_call.h"

namespace weft::core {

// Release and acquire: who finds a record sees it made. What its present life is, only a claim tells.
class OpenEntry {
 public:
  void offer(ParallelCall* call) noexcept { word_.store(word_of(call), std::memory_order_release); }
  void keep(ParallelCall* call) noexcept { word_.store(word_of(call) | kKept, std::memory_order_release); }
  void clear() noexcept { word_.store(0, std::memory_order_release); }

  // For its carrier, and for the monitor.
  ParallelCall* any() const noexcept { return call_of(word_.load(std::memory_order_acquire) & ~kKept); }
  // For others.
  ParallelCall* offered() const noexcept {
    const uintptr_t word = word_.load(std::memory_order_acquire);
    return (word & kKept) == 0 ? call_of(word) : nullptr;
  }

  // By a thread that is not the carrier's: what is kept is offered from now on. Whether it was. A compare-exchange,
  // since the carrier writes meanwhile. It may hit the record's next life, which is offered then: that costs time only.
  bool release() noexcept {
    uintptr_t word = word_.load(std::memory_order_relaxed);
    return (word & kKept) != 0 &&
           word_.compare_exchange_strong(word, word & ~kKept, std::memory_order_acq_rel, std::memory_order_relaxed);
  }

 private:
  static constexpr uintptr_t kKept = 1;
  static_assert(alignof(ParallelCall) > kKept);
  static uintptr_t word_of(ParallelCall* call) noexcept { return reinterpret_cast<uintptr_t>(call); }
  static ParallelCall* call_of(uintptr_t word) noexcept { return reinterpret_cast<ParallelCall*>(word); }

  std::atomic<uintptr_t> word_{0};
};

}  // namespace weft::core
