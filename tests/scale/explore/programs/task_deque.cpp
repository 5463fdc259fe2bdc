// SPDX-License-Identifier: Apache-2.0
// A member pushes and pops, others steal: each task is run once, by who sees what its creator has written.
#include "openmp/task/task_deque.h"

#include <array>

#include "programs/program.h"

namespace weft::explore {

namespace {

constexpr int kTasks = 4;

struct Work {
  int input = 0;
  int runs = 0;
};

class TaskDequeProgram final : public Program {
 public:
  TaskDequeProgram() {
    // Near the end of the ring.
    deque_.top.store(openmp::TaskDeque::kSize - 2);
    deque_.bottom.store(openmp::TaskDeque::kSize - 2);
  }
  void run(int thread) override {
    if (thread == 1) {
      own();
    } else {
      for (int attempts = 0; attempts < 3; ++attempts) take(deque_.steal([](openmp::Task*) { return true; }));
    }
  }
  void check() override {
    while (openmp::Task* left = deque_.pop(0)) take(left);
    for (const Work& work : work_) expect(work.runs == 1, "a task has not been run once");
  }

 private:
  void own() {
    for (int i = 0; i < kTasks; ++i) {
      work_[static_cast<size_t>(i)].input = i + 1;
      deque_.push(reinterpret_cast<openmp::Task*>(&work_[static_cast<size_t>(i)]));
      if (choose(2) == 0) take(deque_.pop(0));
    }
    while (openmp::Task* task = deque_.pop(0)) take(task);
  }
  // Plain: two that have the same task race.
  static void take(openmp::Task* task) {
    if (task == nullptr) return;
    auto* work = reinterpret_cast<Work*>(task);
    expect(work->input != 0, "a task is not complete");
    ++work->runs;
  }

  openmp::TaskDeque deque_;
  std::array<Work, kTasks> work_;
};

const Registered kDeque({"task_deque", 3, make<TaskDequeProgram>});

}  // namespace

}  // namespace weft::explore
