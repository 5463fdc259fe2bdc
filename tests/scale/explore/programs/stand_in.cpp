// SPDX-License-Identifier: Apache-2.0
// A stand-in and the member that comes back (openmp/task/stand_in.h).
#include "openmp/task/stand_in.h"

#include <array>
#include <memory>

#include "openmp/record/team.h"
#include "openmp/task/own_number.h"
#include "openmp/task/task_calls.h"
#include "openmp/task/task_deque.h"
#include "openmp/task/task_take.h"
#include "platform/cycles.h"
#include "programs/program.h"
#include "stand_in/core.h"
#include "stand_in/openmp.h"

namespace weft::explore {

namespace {

using openmp::Member;
using openmp::Task;
using openmp::Team;

// What the member pushes once it is back is not the stand-in's to begin: the number is the member's again.
class ComesBack final : public Program {
 public:
  ComesBack() {
    team_->size = team_->started = 2;
    openmp::reserve_members(team_.get(), 2);
    core_.await_launch(2);
    openmp::g_tasks_may_pause.store(true);
  }
  ~ComesBack() override {
    openmp::g_tasks_may_pause.store(false);
    auto* deques = team_->members.deques.load();
    for (int i = 0; i < team_->members.capacity.load(); ++i) delete deques[i].load();
    delete[] deques;
    delete[] team_->members.lines;
  }
  void run(int thread) override {
    if (thread == 1) {
      openmp::enter_team(&member_, team_.get(), 0);
      run_member(&member_);
    } else {
      core_.run_launched();
    }
  }
  void check() override {
    for (const StandInTask& task : tasks_) expect(task.runs == 1, "a task has not been run once");
    expect(runner_ == 1, "a stand-in has begun what its member has pushed after it had come back");
  }

 private:
  void run_member(Member* self) {
    openmp::dispatch_task(self, tasks_[0].prepare(), {});
    {
      const openmp::Absence absence(self);
      if (choose(2) == 0) platform::pause();
    }
    StandInTask& late = tasks_[1];
    Task* task = late.prepare();
    task->body = [](Task* self_task) {
      auto* stand_in = static_cast<StandInTask*>(self_task->data);
      ++stand_in->runs;
      g_runner = current_thread();
    };
    openmp::dispatch_task(self, task, {});
    while (!openmp::all_executed(team_.get())) {
      if (!openmp::run_any_task(self)) platform::pause();
    }
    // As at the end of a region.
    while (team_->tasks.helpers.load(std::memory_order_acquire) != 0) platform::pause();
    runner_ = g_runner;
  }

  static inline int g_runner = 0;

  StandInCore core_{2};
  std::unique_ptr<Team> team_ = std::make_unique<Team>();
  Member member_;
  std::array<StandInTask, 2> tasks_;
  int runner_ = 0;
};

const Registered kComesBack({"stand_in_and_member", 2, make<ComesBack>});

}  // namespace

}  // namespace weft::explore
