// SPDX-License-Identifier: Apache-2.0
// How a rank waits for what another one writes: it looks, then lets others run, then sleeps.
//
// A sleeper sets the awaited rank's `sleepers`, looks once more and sleeps on its `calls`. A rank that has written
// something looks at its own `sleepers`; where that is set it clears it, counts a call and wakes the sleepers. It
// passes no fence in between, since that would cost each write as much as the transfer of a cache line. So it may miss
// a rank that sets the word at the same moment. That is why no sleep is longer than kLongestSleepNs.
#pragma once

#include <atomic>
#include <cstdint>

#include "coll/group/layout.h"
#include "platform/cycles.h"

namespace weft::coll {

struct WaitSettings {
  void (*progress)();
  void (*died)(int rank);
  bool crowded;  // more ranks than CPUs
};

[[noreturn]] void tell_of_death(const WaitSettings& settings, int rank) noexcept;

// One wait that has lasted for some time.
class LongWait {
 public:
  LongWait(const WaitSettings& settings, Area& awaited) noexcept;

  // What the caller is to do, after it has looked once more: a rank may have ended after it has done its part.
  enum class Next : uint8_t { once, sleep, tell_of_death };
  // Lets others run, and does what is due after so long a wait.
  Next once() noexcept;
  void sleep() noexcept;

 private:
  const WaitSettings& settings_;
  Area& awaited_;
  int64_t now_;
  const int64_t sleep_from_;
  int64_t yield_from_;
  int64_t progress_at_;
  int64_t look_at_;
  uint32_t calls_ = 0;
};

void call_sleepers(Area& own) noexcept;

// Called by a rank that has written something that others may wait for.
inline void wake_sleepers(Area& own) noexcept {
  // Relaxed: see above.
  if (own.sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    call_sleepers(own);
  }
}

template <class Ready>
[[gnu::noinline]] void wait_long(const WaitSettings& settings, Area& awaited, int rank, Ready ready) noexcept {
  constexpr int kLooks = 64;
  for (LongWait wait(settings, awaited);;) {
    for (int look = settings.crowded ? kLooks - 1 : 0; look < kLooks; ++look) {
      if (ready()) return;
      platform::pause();
    }
    const LongWait::Next next = wait.once();
    if (next == LongWait::Next::once) continue;
    if (ready()) return;
    if (next == LongWait::Next::tell_of_death) tell_of_death(settings, rank);
    wait.sleep();
  }
}

// Waits until ready(). `rank` makes that true by a write, after which it wakes sleepers.
template <class Ready>
void wait_until(const WaitSettings& settings, Area& awaited, int rank, Ready ready) noexcept {
  if (ready()) return;
  if (!settings.crowded) {
    constexpr int kLooks = 256;
    for (int look = 0; look < kLooks; ++look) {
      platform::pause();
      if (ready()) return;
    }
  }
  wait_long(settings, awaited, rank, ready);
}

}  // namespace weft::coll
