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

// The caller is about to give a task, and goes on. A root needs a CPU of its own then; and it is watched from then on
// whether it keeps agents from theirs.
void work_beside_agents(const Member* self) noexcept;

// `task`, which is ready, is run by an agent; by the caller if none can be had. Its end counts as its event.
void give_to_agents(Task* task) noexcept;

// Takes one that still waits and is `wanted` by a member that has nothing else to do, or null; for run_given().
Task* take_given(bool (*wanted)(const Task* task, const Member* by), const Member* by) noexcept;

// Brackets a wait of a member: if it is an agent, another may take its place meanwhile.
class AgentAbsence {
 public:
  explicit AgentAbsence(const Member* self) noexcept;
  ~AgentAbsence();
  AgentAbsence(const AgentAbsence&) = delete;
  AgentAbsence& operator=(const AgentAbsence&) = delete;

 private:
  const bool is_agent_;
};

// core::block() by a member that waits for tasks, or in one.
void block_between_tasks(const Member* self) noexcept;
// As core::block_unless().
template <class Done>
void block_between_tasks_unless(const Member* self, Done&& done) noexcept {
  if (done()) {
    core::pass_call_on();
  } else {
    block_between_tasks(self);
  }
}

}  // namespace weft::openmp
