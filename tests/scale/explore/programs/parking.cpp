// SPDX-License-Identifier: Apache-2.0
// park() and unpark() under a lock as that of openmp/lock/lock.cpp.
#include "core/sched/parking.h"

#include <atomic>

#include "programs/program.h"
#include "stand_in/core.h"

namespace weft::explore {

namespace {

constexpr int kThreads = 3;
constexpr int kTimes = 2;
enum : uint32_t { kFree, kHeld, kContended };

class ParkingProgram final : public Program {
 public:
  void run(int) override {
    for (int i = 0; i < kTimes; ++i) {
      lock();
      ++inside_;
      unlock();
    }
  }
  void check() override { expect(inside_ == kThreads * kTimes, "two were inside"); }

 private:
  void lock() {
    uint32_t expected = kFree;
    if (word_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed)) return;
    while (word_.exchange(kContended, std::memory_order_acquire) != kFree) core::park(word_, kContended);
  }
  void unlock() {
    if (word_.exchange(kFree, std::memory_order_release) == kContended) core::unpark(word_, 1);
  }

  StandInCore core_{kThreads};
  std::atomic<uint32_t> word_{kFree};
  int inside_ = 0;
};

const Registered kParking({"parking", kThreads, make<ParkingProgram>});

}  // namespace

}  // namespace weft::explore
