// SPDX-License-Identifier: Apache-2.0
// Free agents (OpenMP 6.0, threadset(omp_pool)): tasks that threads outside of the team may run, so that the part of a
// program that runs alone, or in a small team, has the use of the other CPUs. Each agent is a context of the pool.
#pragma once

#include "core/api/wait.h"

namespace weft::openmp {

struct Member;
struct Task;

// What omp_get_thread_num says in an agent (omp_unassigned_thread).
inline constexpr int kUnassignedThread = -2;

// Whether there can be CPUs on which no member of the caller's team runs. Starts the runtime.
bool agents_may_help(const Member* self) noexcept;

// To be called by a thread that is about to give a task to agents and goes on itself. A root takes a slot for its own
// CPU. From then on the monitor watches whether the root keeps agents from theirs.
void work_beside_agents(const Member* self) noexcept;

// Gives `task`, which is ready, to the agents; where no agent can be had, the caller runs it. The task's end counts as
// its event.
void give_to_agents(Task* task) noexcept;

// Takes the first task that waits for an agent and that is `wanted`, or returns null. For a member that has nothing
// else to do; it runs the task by run_given().
Task* take_given(bool (*wanted)(const Task* task, const Member* by), const Member* by) noexcept;

// Brackets a wait of a member: where the member runs on an agent, another agent may take its place meanwhile.
class AgentAbsence {
 public:
  explicit AgentAbsence(const Member* self) noexcept;
  ~AgentAbsence();
  AgentAbsence(const AgentAbsence&) = delete;
  AgentAbsence& operator=(const AgentAbsence&) = delete;

 private:
  const bool is_agent_;
};

// core::block() for a member that waits for tasks, or waits inside a task.
void block_between_tasks(const Member* self) noexcept;
// The same as core::block_unless().
template <class Done>
void block_between_tasks_unless(const Member* self, Done&& done) noexcept {
  if (done()) {
    core::pass_call_on();
  } else {
    block_between_tasks(self);
  }
}

}  // namespace weft::openmp
