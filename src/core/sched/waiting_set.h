// SPDX-License-Identifier: Apache-2.0
// Which carriers may have a context that has been spinning for a while. Each group of carriers has a word, which says
// "look at their marks". As a rule the word is not written: it stays set when the last carrier of the group goes on,
// until a thread has looked in vain. So carriers that wait again and again, as at the end of each region, share nothing
// that is written.
//
// Sequentially consistent but for the hint. A carrier sets its mark, fences, and reads the word. It sets the word if
// that is clear, fences again, and looks for work. It fences also where it has found the word set: another thread may
// have set the word since the first fence, and a thread that published work in between has seen it clear. A thread that
// clears the word fences, and then looks at the marks of the whole group once more. So one of the two sees the other,
// and no mark stays behind a word that is clear. A thread that looked while the word was clear has passed over a
// carrier that waits. So a thread that finds a mark after it has cleared the word sets the word again, fences, and
// visits that carrier, also for the work of the other thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "platform/fence.h"

namespace weft::core {

template <int N>
class WaitingSet {
 public:
  // Carriers of neighbouring numbers mostly run on neighbouring CPUs.
  static constexpr int kGroup = 16;

  // Called by a carrier that has set its mark and then fenced. It looks for work afterwards.
  void announce(int number) noexcept {
    std::atomic<bool>& word = group(number / kGroup);
    if (__builtin_expect(!word.load(std::memory_order_relaxed), 0)) word.store(true);
    platform::full_fence();
  }

  // Whether the word of a group below `size` is set. A hint, for a caller that has fenced.
  bool any(int size) const noexcept {
    for (int at = 0; at * kGroup < size; ++at) {
      if (group(at).load(std::memory_order_relaxed)) return true;
    }
    return false;
  }

  // Calls visit(number) for those below `size` whose group says so, group by group from that of `from` on, until it
  // returns true. `waits(number)`: whether its mark is set.
  template <class Waits, class Visit>
  void visit(int from, int size, Waits&& waits, Visit&& visit) noexcept {
    const int groups = (size + kGroup - 1) / kGroup;
    bool may_clear = true;  // one a visit, which takes a while
    for (int step = 0; step < groups; ++step) {
      const int at = (from / kGroup + step) % groups;
      if (!group(at).load(std::memory_order_relaxed)) continue;
      const int begin = at * kGroup;
      const int end = begin + kGroup < size ? begin + kGroup : size;
      bool found = false;
      for (int number = begin; number < end; ++number) {
        if (!waits(number)) continue;
        found = true;
        if (visit(number)) return;
      }
      if (found || !may_clear) continue;
      may_clear = false;
      if (!stays_clear(at, waits, visit)) return;
    }
  }

 private:
  // False: a visit said that it was the last.
  template <class Waits, class Visit>
  bool stays_clear(int at, Waits&& waits, Visit&& visit) noexcept {
    group(at).store(false);
    platform::full_fence();
    bool goes_on = true;
    for (int number = at * kGroup; number < N && number < (at + 1) * kGroup; ++number) {
      if (!waits(number)) continue;
      group(at).store(true);
      platform::full_fence();
      if (visit(number)) goes_on = false;
    }
    return goes_on;
  }

  struct alignas(64) Group {
    std::atomic<bool> waits{false};
  };
  std::atomic<bool>& group(int at) noexcept { return groups_[static_cast<size_t>(at)].waits; }
  const std::atomic<bool>& group(int at) const noexcept { return groups_[static_cast<size_t>(at)].waits; }

  std::array<Group, (N + kGroup - 1) / kGroup> groups_{};
};

}  // namespace weft::core
