// SPDX-License-Identifier: Apache-2.0
// A parallel call: calls that may run at the same time, published by the context that needs them all done.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "core/context/context.h"

namespace weft::core {

// Something to wait without.
inline constinit const std::atomic<bool> kNever{false};

// Of the places that threads are bound to, some that follow each other; none: it does not matter which.
struct Places {
  uint16_t first = 0;
  uint16_t count = 0;

  bool any() const noexcept { return count != 0; }
  bool has(int place) const noexcept { return !any() || (place >= first && place < first + count); }
};

// Records are type-stable: once made, the memory stays a ParallelCall for ever. So a thread that found one through
// a stale pointer may still try to claim: it fails, or it gets a call of the record's present life. A
// claimer reads the other fields only after its claim has succeeded.
struct ParallelCall {
  // Next index to hand out (low half) and the end (high half). fetch_add by claimers. The release in
  // publish() heads the release sequence that a successful claimer acquires.
  // What a claimer reads next shares its line, so that it comes with the claim.
  alignas(64) std::atomic<uint64_t> claim{0};
  void (*call)(ParallelCall* parallel_call, int index) = nullptr;
  uint64_t serial = 0;
  std::atomic<Carrier*> root{nullptr};  // whose work this is
  Carrier* publisher = nullptr;  // in whose list it stands
  // What tells its region from others (core/sched/gang_regions.h); null: nothing does. Atomic, since the monitor looks
  // at it.
  std::atomic<const void*> function{nullptr};
  int16_t open_index = -1;
  // Threads lent to regions may do its calls. Set by the region that begins, and by the monitor to find out; relaxed,
  // since a carrier that sees it late is woken once more, or leaves a call to others.
  std::atomic<bool> gang{false};
  // Where its calls are done, set before publish(); relaxed, as `root`. Carriers of these places do them, and others of
  // these NUMA nodes, a bit each, where those have no time. 0: all nodes.
  std::atomic<Places> places{Places{}};
  std::atomic<uint64_t> nodes{0};

  // Calls not finished. With a fence between this and `sleeper` on both sides the last finisher sees the sleeper,
  // or the sleeper sees zero. Released by finishers, acquired by the sleeper.
  alignas(64) std::atomic<int> pending{0};
  std::atomic<Context*> sleeper{nullptr};
  // What is derived from this would begin here, in a line that each claimer writes when it ends.
  std::array<char, 64 - 2 * sizeof(void*)> apart{};

  // Calls that nobody has claimed yet; a hint.
  int unclaimed() const noexcept {
    const uint64_t seen = claim.load(std::memory_order_relaxed);
    const auto next = static_cast<uint32_t>(seen);
    const auto end = static_cast<uint32_t>(seen >> 32);
    return next < end ? static_cast<int>(end - next) : 0;
  }
  bool claimable() const noexcept { return unclaimed() > 0; }

  // Between two lives: no call is left to claim, or to end. For the publisher.
  bool is_over() const noexcept { return !claimable() && pending.load(std::memory_order_relaxed) == 0; }
  // From publish() until join() has returned true.
  bool is_valid() const noexcept {
    return call != nullptr && publisher != nullptr && serial != 0 && pending.load(std::memory_order_relaxed) >= 0;
  }

  // An index to run, or -1.
  int take() noexcept {
    if (!claimable()) return -1;
    const uint64_t seen = claim.fetch_add(1, std::memory_order_acq_rel);
    const auto index = static_cast<uint32_t>(seen);
    return index < static_cast<uint32_t>(seen >> 32) ? static_cast<int>(index) : -1;
  }
};

// What decides which carrier may do something: the root whose work it is, and the parallel call that it is part of, if
// any.
struct Work {
  const Carrier* root = nullptr;
  const ParallelCall* parallel_call = nullptr;
};

}  // namespace weft::core
