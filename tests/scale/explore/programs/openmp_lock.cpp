// SPDX-License-Identifier: Apache-2.0
// OpenMP's locks, on the real parking.
#include "openmp/lock/lock.h"

#include "programs/program.h"
#include "stand_in/core.h"

namespace weft::explore {

namespace {

constexpr int kThreads = 3;

class OpenmpLock final : public Program {
 public:
  void run(int thread) override {
    for (int i = 0; i < 2; ++i) {
      if (thread == 1 && choose(2) == 0 && openmp::try_lock(word_)) {
        ++inside_;
        openmp::unlock(word_);
        ++tried_;
      }
      openmp::lock(word_);
      ++inside_;
      openmp::unlock(word_);
    }
  }
  void check() override { expect(inside_ == kThreads * 2 + tried_, "two were inside"); }

 private:
  StandInCore core_{kThreads};
  openmp::LockWord word_{openmp::kFree};
  int inside_ = 0;
  int tried_ = 0;
};

const Registered kLock({"openmp_lock", kThreads, make<OpenmpLock>});

}  // namespace

}  // namespace weft::explore
