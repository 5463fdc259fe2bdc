// SPDX-License-Identifier: Apache-2.0
// A team's barriers, and the explicit tasks that are run in them.
#include "openmp/record/team.h"

#include <array>
#include <memory>

#include "openmp/task/dependences.h"
#include "openmp/task/task_deque.h"
#include "openmp/team/barrier.h"
#include "programs/program.h"
#include "stand_in/core.h"
#include "stand_in/openmp.h"

namespace weft::explore {

namespace {

using openmp::Member;
using openmp::Task;
using openmp::Team;

template <int kSize, bool kFlat>
class TeamProgram : public Program {
 public:
  TeamProgram() {
    team_->size = team_->started = kSize;
    team_->flat = kFlat;
    openmp::reserve_members(team_.get(), kSize);
  }
  ~TeamProgram() override {
    const int capacity = team_->members.capacity.load();
    auto* deques = team_->members.deques.load();
    for (int i = 0; i < capacity; ++i) delete deques[i].load();
    delete[] deques;
    delete[] team_->members.lines;
  }
  void run(int thread) override {
    Member& self = members_[static_cast<size_t>(thread - 1)];
    openmp::enter_team(&self, team_.get(), thread - 1);
    run_member(&self);
  }

 protected:
  virtual void run_member(Member* self) = 0;
  Team* team() { return team_.get(); }
  Member& member(int number) { return members_[static_cast<size_t>(number)]; }

 private:
  StandInCore core_{kSize};
  std::unique_ptr<Team> team_ = std::make_unique<Team>();
  std::array<Member, kSize> members_;
};

// What each has written before a barrier, all see behind it.
template <int kSize, bool kFlat>
class Barriers final : public TeamProgram<kSize, kFlat> {
 protected:
  void run_member(Member* self) override {
    constexpr int kBarriers = 2;
    for (int i = 1; i <= kBarriers; ++i) {
      written_[static_cast<size_t>(self->number)] = i;
      openmp::pass_barrier(self);
      for (const int value : written_) expect(value == i, "a member has passed before another one came");
      openmp::pass_barrier(self);
    }
  }

 private:
  std::array<int, kSize> written_{};
};

const Registered kFlat({"team_barrier", 3, make<Barriers<3, true>>});
// CMakeLists.txt makes groups small for this.
const Registered kGroups({"team_barrier_groups", 5, make<Barriers<5, true>>});
const Registered kCentral({"team_barrier_central", 3, make<Barriers<3, false>>});

// Tasks are run once, and have ended behind the barrier.
template <int kSize, bool kFlat, int kWaits>
class Tasks final : public TeamProgram<kSize, kFlat> {
 public:
  void check() override {
    for (const StandInTask& task : tasks_) {
      expect(task.runs == 1, "a task has not been run once");
      expect(task.freed == 1, "a task has not been freed once");
    }
  }

 protected:
  void run_member(Member* self) override {
    if (self->number == 0) {
      for (StandInTask& task : tasks_) openmp::dispatch_task(self, task.prepare(), {});
      if (kWaits != 0) {
        openmp::await_children(self);
        for (const StandInTask& task : tasks_) expect(task.runs == 1, "a task has not ended behind taskwait");
      }
    }
    openmp::pass_barrier(self);
    for (const StandInTask& task : tasks_) expect(task.runs == 1, "a task has not ended behind the barrier");
    openmp::pass_barrier(self);
  }

 private:
  std::array<StandInTask, 2> tasks_;
};

// A task begins when those that it depends on have ended.
class Dependences final : public TeamProgram<2, true> {
 public:
  ~Dependences() override { delete member(0).implicit.children; }
  void check() override { expect(value_ == 2, "a task has run before one that it depends on"); }

 protected:
  void run_member(Member* self) override {
    if (self->number == 0) {
      const openmp::Dependence writes{&value_, openmp::DependKind::inout};
      for (StandInTask& stand_in : tasks_) {
        stand_in.counter = &value_;
        openmp::dispatch_task(self, stand_in.prepare(), {.dependences = &writes, .dependence_count = 1});
      }
    }
    openmp::pass_barrier(self);
  }

 private:
  std::array<StandInTask, 2> tasks_;
  int value_ = 0;  // plain: two that are not ordered race
};

const Registered kDependences({"team_dependences", 2, make<Dependences>});
const Registered kTasks({"team_tasks", 3, make<Tasks<3, true, 0>>});
const Registered kTasksCentral({"team_tasks_central", 3, make<Tasks<3, false, 0>>});
const Registered kTaskWait({"team_taskwait", 2, make<Tasks<2, true, 1>>});

}  // namespace

}  // namespace weft::explore
