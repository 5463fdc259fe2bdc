// SPDX-License-Identifier: Apache-2.0
// Those who spin for a lock in line: one at a time is first, and what it guards is plain. Some go while they wait, some
// when they are first; at last each waits until it is first.
#include "openmp/api/spin_queues.h"

#include "faults/spin_queues.h"
#include "platform/cycles.h"
#include "programs/program.h"

namespace weft::explore {

namespace {

constexpr int kThreads = 3;
constexpr int kNumbers = kThreads + 1;

template <template <size_t> class Queues>
class SpinQueuesProgram final : public Program {
 public:
  void run(int thread) override {
    for (int round = 0; round < 2; ++round) {
      if (queues_.enter(thread, &lock_)) pass_through(thread, choose(3));
    }
    while (!queues_.enter(thread, &lock_)) platform::pause();
    while (!queues_.is_first(thread)) platform::pause();
    pass_through(thread, 1);
  }
  void check() override {
    for (int number = 0; number < kNumbers; ++number) {
      expect(queues_.enter(number, &lock_), "a place is not out");
      expect(queues_.is_first(number) == (number == 0), "the queue was not empty");
    }
    expect(inside_ == told_.load(std::memory_order_relaxed), "two were first");
  }

 private:
  void pass_through(int thread, unsigned polls) {
    bool first = false;
    for (; polls > 0 && !(first = queues_.is_first(thread)); --polls) platform::pause();
    if (first) {
      ++inside_;
      told_.fetch_add(1, std::memory_order_relaxed);
    }
    queues_.leave(thread, &lock_);
  }

  Queues<kNumbers> queues_;
  int lock_ = 0;
  int inside_ = 0;
  std::atomic<int> told_{0};
};

const Registered kSpinQueues({"spin_queues", kThreads, make<SpinQueuesProgram<openmp::SpinQueues>>});
const Registered kFaulty({"fault_spin_queues", kThreads, make<SpinQueuesProgram<openmp::FaultySpinQueues>>, true});

}  // namespace

}  // namespace weft::explore
