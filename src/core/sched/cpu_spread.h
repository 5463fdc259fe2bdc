// SPDX-License-Identifier: Apache-2.0
// Keeps carriers on CPUs of their own, and out of the way of other threads. The kernel may queue two carriers on one
// CPU for some milliseconds while another CPU is idle: then a carrier that only waits holds up the one that it waits
// for. A thread of another process may also be queued behind a carrier that only waits. Internal to core, but for the
// part of spin_until() that is inline.
#pragma once

#include <cstdint>

namespace weft::core {

struct Carrier;

// When a carrier looks where others are, behind yields that have let another thread run. Touched by the carrier only.
class SpreadLooks {
 public:
  enum class Look { kNo, kIfACpuIsFree, kAlways };

  // To be called behind each yield, with its begin and end by the monotonic clock. Returns whether to look.
  Look note_yield(int64_t before_ns, int64_t after_ns) noexcept;

  // Whether a yield was long enough for another thread to have run. It may be one of a carrier that waits as well by
  // now: where two carriers share a CPU and wait for each other by turns, neither waits for long.
  static constexpr bool is_switch(int64_t lasted_ns) noexcept { return lasted_ns >= kSwitchNs; }

  // The carrier to look at, by turns, where there are `count`.
  int next_carrier(int count) noexcept { return from_ = from_ + 1 < count ? from_ + 1 : 0; }

 private:
  static constexpr int64_t kSwitchNs = 2'000;

  int64_t next_ns_ = 0;
  int64_t last_ns_ = 0;   // behind brief turns, and the time to the next one of these
  int64_t pause_ns_ = 0;
  int brief_turns_ = 0;  // of other threads, one after the other
  int from_ = 0;  // the carrier that it has looked at last
};

// A waiting carrier calls look() now and then, with the time and how long it has waited. After some microseconds it
// lets other threads that are queued on its CPU go first, which costs little where there are none. After a while, from
// time to time, and sooner where a thread did go first, it looks where the other carriers are. It moves to another CPU
// if a working carrier shares its own.
class CpuSpread {
 public:
  void look(Carrier* mine, int64_t now, int64_t waited_ns) noexcept {
    if (waited_ns < kYieldNs) return;
    const bool shared = yield(mine, now);
    if (waited_ns < next_ns_ && !shared) return;
    next_ns_ = waited_ns + kPeriodNs;
    move_if_shared(mine, shared);
  }

  // Whether other threads, of this process or not, have used the CPU for so long meanwhile that they had better have it
  // alone. It is for waits that may last, such as those for messages: members wait for each other briefly, as a rule.
  bool has_given_way() const noexcept { return given_ns_ > kGivenNs; }

 private:
  static constexpr int64_t kGivenNs = 100'000;
  static constexpr int64_t kYieldNs = 5'000;  // longer than most waits where every carrier runs
  static constexpr int64_t kFirstNs = 500'000;
  static constexpr int64_t kPeriodNs = 5'000'000;
  // Returns whether another thread has run meanwhile, and it is worth a look which one.
  bool yield(Carrier* mine, int64_t now) noexcept;
  static void move_if_shared(Carrier* mine, bool waiting_too) noexcept;

  int64_t next_ns_ = kFirstNs;
  int64_t given_ns_ = 0;
};

}  // namespace weft::core
