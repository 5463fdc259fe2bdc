// SPDX-License-Identifier: Apache-2.0
// Carriers that sleep until there is work, as by core/sched/idle.cpp and waking.h: for each piece of work one comes.
#include "core/sched/claim_set.h"

#include <array>
#include <atomic>

#include "platform/fence.h"
#include "platform/futex.h"
#include "programs/program.h"

namespace weft::explore {

namespace {

constexpr int kCarriers = 2;
enum : uint32_t { kNone, kNotified, kSleeping };

class ClaimSetProgram final : public Program {
 public:
  void run(int thread) override {
    if (thread > kCarriers) {
      work_.fetch_add(1, std::memory_order_relaxed);
      platform::full_fence();
      notify();
    } else {
      const int index = thread - 1;
      while (!take()) rest(index);
      if (called_[static_cast<size_t>(index)]) {
        // It has come for one piece; there may be more that it was to pass on.
        platform::full_fence();
        if (work_.load(std::memory_order_relaxed) > 0) notify();
      }
    }
  }
  void check() override { expect(work_.load() == 0, "work is left"); }

 private:
  bool take() {
    int seen = work_.load(std::memory_order_relaxed);
    while (seen > 0) {
      if (work_.compare_exchange_weak(seen, seen - 1, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  void notify() {
    if (idle_.empty(kCarriers)) return;
    const int index = idle_.take(0, kCarriers, [](int) { return true; });
    if (index < 0) return;
    std::atomic<uint32_t>& wake = wake_[static_cast<size_t>(index)];
    if (wake.exchange(kNotified) == kSleeping) platform::futex_wake(wake, 1);
  }
  void rest(int index) {
    std::atomic<uint32_t>& wake = wake_[static_cast<size_t>(index)];
    wake.store(kNone, std::memory_order_relaxed);
    idle_.add(index);
    platform::full_fence_after_update();
    if (work_.load(std::memory_order_relaxed) == 0) {
      uint32_t expected = kNone;
      if (wake.compare_exchange_strong(expected, kSleeping)) {
        while (wake.load() == kSleeping) platform::futex_wait(wake, kSleeping);
      }
    }
    if (!idle_.remove(index)) called_[static_cast<size_t>(index)] = true;
  }

  core::ClaimSet<64> idle_;
  std::array<std::atomic<uint32_t>, kCarriers> wake_{};
  std::array<bool, kCarriers> called_{};
  std::atomic<int> work_{0};
};

const Registered kClaimSet({"claim_set", 4, make<ClaimSetProgram>});

}  // namespace

}  // namespace weft::explore
