// SPDX-License-Identifier: Apache-2.0
#include "openmp/task/free_agent.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "core/api/fork.h"
#include "core/api/wait.h"
#include "openmp/affinity/team_affinity.h"
#include "openmp/record/record_cache.h"
#include "openmp/record/team.h"
#include "openmp/settings/icv.h"
#include "openmp/settings/startup.h"
#include "openmp/task/task.h"
#include "openmp/tool/events.h"
#include "platform/generation.h"
#include "platform/spinlock.h"

namespace weft::openmp {

namespace {

// Tasks that wait for an agent, linked by `next_free`. A thread that gives a task counts it in `waiting`, then looks at
// `agents`. An agent that leaves takes itself off `agents`, then looks at `waiting`. All of it is sequentially
// consistent, so one of the two sees the other.
struct Queue {
  platform::Spinlock lock;
  Task* first = nullptr;
  Task* last = nullptr;
  std::atomic<int> waiting{0};
  std::atomic<int> agents{0};
  uint32_t generation = 0;  // of the process
};
Queue g_queue;

void append(Task* task) noexcept {
  task->next_free = nullptr;
  (g_queue.first != nullptr ? g_queue.last->next_free : g_queue.first) = task;
  g_queue.last = task;
  g_queue.waiting.fetch_add(1);
}

// Whether the task is of a region that the caller is in.
bool is_own(const Task* task) noexcept {
  for (const Member* member = current_member(); member != nullptr; member = member->team->parent) {
    if (member->team == task->team || member->team->agent_of == task->team) return true;
  }
  return false;
}

// Called with the lock held. In the child of a fork there are no agents, and the tasks of the parent's other threads
// are not the child's to run. The fork may have come while a thread changed the list: the list from `first` on is valid
// at each instruction, and all else is made anew from it.
void leave_to_parent() noexcept {
  if (std::exchange(g_queue.generation, platform::generation()) == platform::generation()) return;
  g_queue.agents.store(0);
  g_queue.waiting.store(0);
  g_queue.last = nullptr;
  for (Task* task = std::exchange(g_queue.first, nullptr); task != nullptr;) {
    Task* next = task->next_free;
    if (is_own(task)) append(task);
    task = next;
  }
}

void put(Task* task) noexcept {
  const std::lock_guard guard(g_queue.lock);
  leave_to_parent();
  append(task);
}

// A tool is told of what the agent does, or of nothing.
void set_reported(Member* agent, bool reported) noexcept {
  if (agent->team->tool.reported == reported) return;
  agent->team->tool.reported = reported;
  make_current(agent);
}

// An agent is the only member of a team that shows the task where it belongs.
void run_as_agent(Member* member, Task* task) noexcept {
  Team* team = member->team;
  const Team* home = task->team;
  team->agent_of = home;
  team->level = home->level;
  team->active_level = home->active_level;
  team->parent = home->parent;
  team->icvs = home->icvs;
  if (team->icvs.affinity) place_agent(team, home);
  team->league.size = home->league.size;
  team->league.number = home->league.number;
  if (tool::is_active()) set_reported(member, home->tool.reported);
  run_given(member, task);
}

void serve() noexcept {
  Member* before = current_member();
  Member* member = take_frame();
  Team* team = take_team(RegionKind::none);
  team->size = 1;
  member->outer = before;
  enter_team(member, team, 0);
  member->number = kUnassignedThread;
  team->tool.reported = tool::is_active();
  make_current(member);
  tool::begin_agent(member);
  const auto news = [] { return g_queue.waiting.load(std::memory_order_relaxed) > 0; };
  do {
    while (Task* task = take_given([](const Task*, const Member*) { return true; }, member)) run_as_agent(member, task);
  } while (core::spin_until(member->context, news));
  if (tool::is_active()) {
    set_reported(member, true);
    tool::end_agent(member);
  }
  team->tool.reported = false;
  team->agent_of = nullptr;
  team->first_loop = member->loops;
  team->first_single = member->singles;
  make_current(before);
  put_team(team);
  put_frame(member);
}

void agent(void*) noexcept {
  for (;;) {
    serve();
    g_queue.agents.fetch_sub(1);
    // A task may have come that counted on this agent.
    if (g_queue.waiting.load() == 0) return;
    g_queue.agents.fetch_add(1);
    core::pass_call_on();
  }
}

void call_agent() noexcept {
  if (g_queue.agents.load() >= std::min(core::slots(), free_agent_limit())) return;
  g_queue.agents.fetch_add(1);
  if (core::Context* context = core::make_context(agent, nullptr, 0)) {
    core::launch(context);
  } else {
    // The system refuses another thread.
    agent(nullptr);
  }
}

}  // namespace

bool agents_may_help(const Member* self) noexcept {
  start_runtime();
  return self->team->size < core::slots() && free_agent_limit() > 0 && core::has_spare();
}

void work_beside_agents(const Member* self) noexcept {
  if (self->context->home == nullptr) return;
  core::enter_region(self->context, 1);
  core::leave_region(self->context);
}

void give_to_agents(Task* task) noexcept {
  put(task);
  call_agent();
}

Task* take_given(bool (*wanted)(const Task* task, const Member* by), const Member* by) noexcept {
  if (g_queue.waiting.load() == 0) return nullptr;
  const std::lock_guard guard(g_queue.lock);
  leave_to_parent();
  Task* before = nullptr;
  Task* task = g_queue.first;
  while (task != nullptr && !wanted(task, by)) {
    before = task;
    task = task->next_free;
  }
  if (task != nullptr) {
    (before != nullptr ? before->next_free : g_queue.first) = task->next_free;
    if (g_queue.last == task) g_queue.last = before;
    g_queue.waiting.fetch_sub(1);
  }
  return task;
}

namespace {

// Whether the member's stack is that of an agent: the member may be in a region that the agent's task has opened.
bool runs_on_agent(const Member* member) noexcept {
  while (member != nullptr && member->team->agent_of == nullptr) member = member->outer;
  return member != nullptr;
}

}  // namespace

AgentAbsence::AgentAbsence(const Member* self) noexcept : is_agent_(runs_on_agent(self)) {
  if (!is_agent_) return;
  g_queue.agents.fetch_sub(1);
  if (g_queue.waiting.load() > 0) call_agent();
}

AgentAbsence::~AgentAbsence() {
  if (is_agent_) g_queue.agents.fetch_add(1);
}

void block_between_tasks(const Member* self) noexcept {
  const AgentAbsence absence(self);
  core::block();
}

}  // namespace weft::openmp
