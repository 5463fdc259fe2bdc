// SPDX-License-Identifier: Apache-2.0
// The locks of the platform: what they guard is plain.
#include <array>

#include "platform/futex_lock.h"
#include "platform/spinlock.h"
#include "programs/program.h"

namespace weft::explore {

namespace {

constexpr int kThreads = 3;
constexpr int kTimes = 2;

template <class Lock>
class LockProgram final : public Program {
 public:
  void run(int) override {
    for (int i = 0; i < kTimes; ++i) {
      lock_.lock();
      ++inside_;
      lock_.unlock();
    }
  }
  void check() override { expect(inside_ == kThreads * kTimes, "two were inside"); }

 private:
  Lock lock_;
  int inside_ = 0;
};

const Registered kSpinlock({"spinlock", kThreads, make<LockProgram<platform::Spinlock>>});
const Registered kFutexLock({"futex_lock", kThreads, make<LockProgram<platform::FutexLock>>});

}  // namespace

}  // namespace weft::explore
