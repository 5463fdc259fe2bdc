// SPDX-License-Identifier: Apache-2.0
// Carriers that spin are poked, as by core/sched/waking.cpp and spinning.cpp: for each piece of work somebody comes.
#include "core/sched/waiting_set.h"

#include <array>
#include <atomic>

#include "platform/fence.h"
#include "platform/futex.h"
#include "programs/program.h"

namespace weft::explore {

namespace {

constexpr int kCarriers = 2;
constexpr int kTimes = 2;

struct Carrier {
  std::atomic<bool> waiting{false};
  std::atomic<uint32_t> poked{0};
};

class WaitingSetProgram final : public Program {
 public:
  void run(int thread) override {
    for (int i = 0; i < kTimes; ++i) {
      if (thread > kCarriers) {
        publish();
      } else {
        take_one(thread - 1);
      }
    }
  }
  void check() override { expect(work_.load() == 0, "work is left"); }

 private:
  bool take() {
    int seen = work_.load(std::memory_order_relaxed);
    while (seen > 0) {
      if (work_.compare_exchange_weak(seen, seen - 1)) return true;
    }
    return false;
  }

  void publish() {
    work_.fetch_add(1, std::memory_order_relaxed);
    notify();
  }

  // As notify_some() and poke_waiting().
  void notify() {
    platform::full_fence();
    if (!set_.any(kCarriers)) return;
    set_.visit(
        0, kCarriers, [&](int index) { return index < kCarriers && at(index).waiting.load(std::memory_order_relaxed); },
        [&](int index) {
          Carrier& carrier = at(index);
          if (carrier.poked.load(std::memory_order_relaxed) != 0 || carrier.poked.exchange(1) != 0) return false;
          platform::full_fence_after_update();
          if (!carrier.waiting.load(std::memory_order_relaxed) && carrier.poked.exchange(0) != 0) return false;
          platform::futex_wake(carrier.poked, 1);
          return true;
        });
  }

  // As begin_waiting(), a wait, and end_waiting().
  void take_one(int index) {
    Carrier& self = at(index);
    bool has = take();
    while (!has) {
      self.waiting.store(true, std::memory_order_relaxed);
      platform::full_fence();
      set_.announce(index);
      has = take();
      while (!has && self.poked.load(std::memory_order_relaxed) == 0) platform::futex_wait(self.poked, 0);
      self.waiting.store(false, std::memory_order_relaxed);
      platform::full_fence();
      const bool poked = self.poked.load(std::memory_order_relaxed) != 0 && self.poked.exchange(0) != 0;
      // It was poked for another piece.
      if (has && poked) notify();
      has = has || take();
    }
  }

  Carrier& at(int index) { return carriers_[static_cast<size_t>(index)]; }

  core::WaitingSet<16> set_;
  std::array<Carrier, kCarriers> carriers_;
  std::atomic<int> work_{0};
};

const Registered kWaitingSet({"waiting_set", 4, make<WaitingSetProgram>});

}  // namespace

}  // namespace weft::explore
