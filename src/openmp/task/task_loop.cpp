// SPDX-License-Identifier: Apache-2.0
#include "openmp/task/task_loop.h"

#include <atomic>
#include <new>

#include "core/api/fork.h"
#include "openmp/record/team.h"
#include "openmp/task/dropped.h"
#include "openmp/task/free_agent.h"
#include "openmp/task/task_run.h"

namespace weft::openmp {

namespace {

// One loop, followed in memory by what each runner has left to do. Goes with the last that runs some of it.
struct alignas(64) SharedLoop {
  Task* memory;  // whose payload this is: the pools of tasks take it back from any thread
  TaskLoopPlan plan;
  TaskLoopCalls calls;
  Task* pattern;
  bool final;
  int runners;
  // Relaxed: tells runners apart.
  std::atomic<int> next_runner{0};
  // Acquire and release: the last one comes after all others.
  std::atomic<int> users;

  ChunkRange* ranges() noexcept { return reinterpret_cast<ChunkRange*>(this + 1); }
};

SharedLoop* make_loop(const TaskLoopPlan& plan, const TaskLoopCalls& calls, Task* pattern, bool final, int runners) {
  void* place = nullptr;
  Task* memory = allocate_task(sizeof(SharedLoop) + sizeof(ChunkRange) * static_cast<size_t>(runners),
                               alignof(SharedLoop), &place);
  auto* loop = new (place) SharedLoop{memory, plan, calls, pattern, final, runners, 0, runners};
  for (int i = 0; i < runners; ++i) new (&loop->ranges()[i]) ChunkRange;
  loop->ranges()[0].set(0, plan.tasks());
  return loop;
}

void leave(SharedLoop* loop) noexcept {
  if (loop->users.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  free_task(loop->pattern);
  free_task(loop->memory);
}

class Runner {
 public:
  Runner(Member* self, SharedLoop* loop) noexcept
      : self_(self), loop_(loop), number_(loop->next_runner.fetch_add(1, std::memory_order_relaxed)) {}

  void run() {
    for (uint64_t index = 0; take(&index);) run_one(index);
    end_record();
  }

 private:
  bool take(uint64_t* index) noexcept {
    ChunkRange& mine = loop_->ranges()[number_];
    if (mine.take(index)) return true;
    for (int i = 1; i < loop_->runners; ++i) {
      const int victim = number_ + i < loop_->runners ? number_ + i : number_ + i - loop_->runners;
      uint64_t end = 0;
      if (!loop_->ranges()[victim].take_half(index, &end)) continue;
      mine.set(*index + 1, end);
      return true;
    }
    return false;
  }

  void run_one(uint64_t index) {
    if (record_ == nullptr) {
      record_ = loop_->calls.copy(loop_->pattern);
      begin_undeferred(self_, record_, loop_->final, tool::Listener::none);
    }
    if (!is_dropped(record_)) {
      const TaskLoopPlan& plan = loop_->plan;
      loop_->calls.run(record_, loop_->pattern, plan.begin(index), plan.begin(index + 1));
    }
    // The record serves the next task too, unless this one has left something in it: children, or ICVs that it has set.
    if (record_->created != 0 || record_->icvs == &record_->own_icvs) end_record();
  }

  void end_record() {
    if (record_ == nullptr) return;
    end_undeferred(self_, record_, tool::Listener::none);
    record_ = nullptr;
  }

  Member* const self_;
  SharedLoop* const loop_;
  const int number_;
  Task* record_ = nullptr;  // of the task that runs, and of the next
};

void run_runner(Task* task) {
  auto* loop = static_cast<SharedLoop*>(task->data);
  Runner(self(), loop).run();
  leave(loop);
}

}  // namespace

void run_task_loop(Member* self, const TaskLoopPlan& plan, const TaskLoopCalls& calls, Task* pattern,
                   const TaskClauses& clauses) noexcept {
  if (plan.tasks() == 0) {
    free_task(pattern);
    return;
  }
  const bool deferred = clauses.deferred && !self->task->final;
  const bool agents = deferred && clauses.free_agents && agents_may_help(self);
  const int threads = !deferred ? 1 : agents ? core::slots() : self->team->size;
  const uint64_t useful = std::min(plan.tasks(), static_cast<uint64_t>(threads));
  SharedLoop* loop = make_loop(plan, calls, pattern, clauses.final, static_cast<int>(useful));
  for (int i = 1; i < loop->runners; ++i) {
    Task* task = allocate_task(0, 1, nullptr);
    task->body = run_runner;
    task->data = loop;
    submit_task(self, task, {.free_agents = agents, .priority = clauses.priority}, tool::Listener::none);
  }
  Runner(self, loop).run();
  leave(loop);
}

}  // namespace weft::openmp
