// SPDX-License-Identifier: Apache-2.0
// A parallel call: calls that may run at the same time, published by the context that needs them all done.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "core/context/context.h"

namespace weft::core {

// A flag that is never set, for join().
inline constinit const std::atomic<bool> kNever{false};

// A range of the places that threads are bound to; an empty one: any place will do.
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
  std::atomic<Carrier*> root{nullptr};  // the root whose work the call is
  Carrier* publisher = nullptr;         // the carrier in whose list it stands
  // The function by which its region is known (core/sched/gang_regions.h); null: there is none. Atomic, since the
  // monitor looks at it.
  std::atomic<const void*> function{nullptr};
  int16_t open_index = -1;
  // Threads that are lent to regions may do its calls. Set by the region that begins, and by the monitor when it sends
  // a probe; relaxed, since a carrier that sees it late is woken once more, or leaves a call to others.
  std::atomic<bool> gang{false};
  // Where its calls are done, set before publish(); relaxed, as `root`. Carriers of `places` do them; where these have
  // no time, other carriers of `nodes` do, a bit per NUMA node. 0: all nodes.
  std::atomic<Places> places{Places{}};
  std::atomic<uint64_t> nodes{0};

  // How many calls have not finished. A finisher writes this, fences, and reads `sleeper`; the sleeper writes
  // `sleeper`, fences, and reads this: so the last finisher sees the sleeper, or the sleeper sees 0. Released by
  // finishers, acquired by the sleeper.
  alignas(64) std::atomic<int> pending{0};
  std::atomic<Context*> sleeper{nullptr};
  // Fills the cache line, which each claimer writes when it ends: the fields of a derived class begin on the next one.
  std::array<char, 64 - 2 * sizeof(void*)> apart{};

  // How many calls have not been claimed yet; a hint.
  int unclaimed() const noexcept {
    const uint64_t seen = claim.load(std::memory_order_relaxed);
    const auto next = static_cast<uint32_t>(seen);
    const auto end = static_cast<uint32_t>(seen >> 32);
    return next < end ? static_cast<int>(end - next) : 0;
  }
  bool claimable() const noexcept { return unclaimed() > 0; }

  // Whether no call is left to claim or to end: the record is between two lives. For the publisher.
  bool is_over() const noexcept { return !claimable() && pending.load(std::memory_order_relaxed) == 0; }
  // Holds from publish() until join() has returned true.
  bool is_valid() const noexcept {
    return call != nullptr && publisher != nullptr && serial != 0 && pending.load(std::memory_order_relaxed) >= 0;
  }

  // Claims an index to run; -1: none is left.
  int take() noexcept {
    if (!claimable()) return -1;
    const uint64_t seen = claim.fetch_add(1, std::memory_order_acq_rel);
    const auto index = static_cast<uint32_t>(seen);
    return index < static_cast<uint32_t>(seen >> 32) ? static_cast<int>(index) : -1;
  }
};

// A piece of work, as far as it decides which carrier may do it: the root whose work it is, and the parallel call that
// it is part of, if any.
struct Work {
  const Carrier* root = nullptr;
  const ParallelCall* parallel_call = nullptr;
};

}  // namespace weft::core
