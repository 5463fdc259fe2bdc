// SPDX-License-Identifier: Apache-2.0
// Contexts wait in a queue for an event: none is left behind.
#include "core/sched/wait_queue.h"

#include <atomic>

#include "programs/program.h"
#include "stand_in/core.h"

namespace weft::explore {

namespace {

class WaitQueueProgram final : public Program {
 public:
  WaitQueueProgram() { queue_.reserve(2); }
  void run(int thread) override {
    if (thread == 1) {
      data_ = 1;
      come(1);
      come(2);
    } else {
      await(1);
      await(2);
    }
  }

 private:
  void come(int event) {
    event_.store(event, std::memory_order_release);
    queue_.release();
  }
  void await(int event) {
    for (;;) {
      const uint32_t ticket = queue_.ticket();
      if (event_.load(std::memory_order_acquire) >= event) break;
      queue_.wait(ticket);
    }
    expect(data_ == 1, "the event came before what it says");
  }

  StandInCore core_{3};
  core::WaitQueue queue_;
  std::atomic<int> event_{0};
  int data_ = 0;
};

const Registered kWaitQueue({"wait_queue", 3, make<WaitQueueProgram>});

}  // namespace

}  // namespace weft::explore
