// SPDX-License-Identifier: Apache-2.0
// Parallel calls: each call of a record's life is run once, whoever claims it, also by who has found the record in its
// life before; and its publisher sees what the calls have done.
#include "core/sched/parallel_call.h"

#include <array>

#include "core/sched/carrier.h"
#include "core/sched/fork_join.h"
#include "core/sched/scheduler.h"
#include "programs/program.h"
#include "stand_in/core.h"

namespace weft::explore {

namespace {

constexpr int kThreads = 3;
constexpr int kCalls = 3;
constexpr int kLives = 2;

class ParallelCalls final : public Program {
 public:
  ParallelCalls() {
    record_.call = call;
    record_.program = this;
  }
  void run(int thread) override {
    if (thread == 1) {
      for (int life = 1; life <= kLives; ++life) live(life);
    } else {
      for (int attempts = 0; attempts < 4; ++attempts) claim();
    }
  }

 private:
  struct Record : core::ParallelCall {
    ParallelCalls* program = nullptr;
  };

  static void call(core::ParallelCall* record, int index) {
    ParallelCalls* self = static_cast<Record*>(record)->program;
    expect(self->input_ > 0, "a call has run without a publication");
    ++self->runs_[static_cast<size_t>(index)];
  }

  void live(int life) {
    input_ = life;  // before it is published, for those who run it
    core::publish(&record_, kCalls);
    call(&record_, 0);
    core::join(&record_);
    for (const int runs : runs_) expect(runs == life, "a call has not been run once");
    input_ = 0;
  }

  // As next_work.cpp finds it.
  void claim() {
    const core::Carrier* publisher = core_.context(1).carrier;
    if (publisher->open_top.load(std::memory_order_acquire) == 0) return;
    core::ParallelCall* found = publisher->open[0].load(std::memory_order_acquire);
    if (found == nullptr || !found->claimable()) return;
    const int index = found->take();
    if (index >= 0) core::run_claimed(core::current_context(), found, index);
  }

  StandInCore core_{kThreads};
  Record record_;
  int input_ = 0;
  std::array<int, kCalls> runs_{};
};

const Registered kParallelCalls({"parallel_call", kThreads, make<ParallelCalls>});

}  // namespace

}  // namespace weft::explore
