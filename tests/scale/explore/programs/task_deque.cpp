// SPDX-License-Identifier: Apache-2.0
// A member pushes and pops, others steal: each task is run once, by who sees what its creator has written.
#include "openmp/task/task_deque.h"

#include <array>

#include "faults/task_deque.h"
#include "programs/program.h"

namespace weft::explore {

namespace {

using openmp::FaultyTaskDeque;
using openmp::Task;
using openmp::TaskDeque;

constexpr auto kAny = [](const Task*) { return true; };

struct Work {
  int input = 0;
  int runs = 0;
};

// Each thief takes one at a time, or several of many.
template <class Deque, int Tasks, bool Several>
class TaskDequeProgram final : public Program {
 public:
  TaskDequeProgram() {
    // Near the end of the ring.
    for (int i = 0; i < Deque::kSize - 2; ++i) {
      deque_.push(reinterpret_cast<Task*>(&work_[0]));
      deque_.steal(kAny);
    }
  }
  void run(int thread) override {
    if (thread == 1) {
      own();
      return;
    }
    for (int attempts = 0; attempts < 3; ++attempts) {
      if constexpr (Several) {
        typename Deque::Loot loot{};
        const int count = deque_.steal_several(loot, kAny);
        for (int i = 0; i < count; ++i) take(loot[static_cast<size_t>(i)]);
      } else {
        take(deque_.steal(kAny));
      }
    }
  }
  void check() override {
    while (Task* left = deque_.pop(0)) take(left);
    for (const Work& work : work_) expect(work.runs == 1, "a task has not been run once");
  }

 private:
  // Twice: few become many once more.
  void own() {
    for (int i = 0; i < Tasks; ++i) {
      Work& work = work_[static_cast<size_t>(i)];
      work.input = i + 1;
      if (!deque_.push(reinterpret_cast<Task*>(&work))) take(reinterpret_cast<Task*>(&work));
      if (choose(Several ? 4 : 2) == 0) take(deque_.pop(0));
      if (i == Tasks / 2) pop_all();
    }
    pop_all();
  }
  void pop_all() {
    while (Task* task = deque_.pop(0)) take(task);
  }
  // Plain: two that have the same task race.
  static void take(Task* task) {
    if (task == nullptr) return;
    auto* work = reinterpret_cast<Work*>(task);
    expect(work->input != 0, "a task is not complete");
    ++work->runs;
  }

  Deque deque_;
  std::array<Work, Tasks> work_;
};

const Registered kDeque({"task_deque", 3, make<TaskDequeProgram<TaskDeque, 4, false>>});
const Registered kDequeSeveral({"task_deque_several", 3, make<TaskDequeProgram<TaskDeque, 10, true>>});
const Registered kFaulty({"fault_one_generation", 3, make<TaskDequeProgram<FaultyTaskDeque, 10, true>>, true});

}  // namespace

}  // namespace weft::explore
