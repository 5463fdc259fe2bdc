// SPDX-License-Identifier: Apache-2.0
#include "openmp/task/spawned.h"

#include <algorithm>
#include <new>

#include <pthread.h>

#include "core/api/fork.h"
#include "openmp/record/record_cache.h"
#include "openmp/settings/icv.h"
#include "openmp/task/free_agent.h"
#include "openmp/task/task.h"
#include "openmp/task/task_pause.h"
#include "openmp/task/timed_wait.h"
#include "openmp/tool/events.h"

namespace weft::openmp {

namespace {

// Lies behind the task's record. The task alone uses the fields behind `program`, while it runs.
struct Spawned {
  SpawnedBody program;
  SuspendMode mode = SuspendMode::none;
  int64_t timeout_ns = 0;
  bool suspended = false;
};

Spawned* spawned_of(const Task* task) noexcept { return static_cast<Spawned*>(task->data); }

// The team that all spawned tasks belong to. Agents show a task's team as its region, and spawned tasks have none: so
// this team looks like that of a thread outside of all regions.
Team* home() noexcept {
  static Team* team = nullptr;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] {
    team = take_team(RegionKind::none);
    team->size = 1;
    team->level = 0;
    team->active_level = 0;
    team->parent = nullptr;
    team->icvs = initial_icvs();
    // They run on any CPU.
    team->icvs.affinity = false;
    team->places.placement = {};
    team->league = {};
  });
  return team;
}

void await_next_run(Member* self, Task* task, const Spawned& spawned) noexcept {
  switch (spawned.mode) {
    case SuspendMode::none: block_task(self, task); break;
    case SuspendMode::submit: yield_task(self); break;
    case SuspendMode::timeout: pause_for(self, spawned.timeout_ns); break;
    case SuspendMode::events: await_own_events(self, task); break;
  }
}

void run_body(Task* task) {
  Spawned* spawned = spawned_of(task);
  for (;;) {
    spawned->suspended = false;
    spawned->program.body(spawned->program.argument);
    if (!spawned->suspended) return;
    await_next_run(self(), task, *spawned);
  }
}

}  // namespace

void spawn_task(const SpawnedBody& body) noexcept {
  Member* member = member_to_pause();
  Team* team = home();
  void* payload = nullptr;
  Task* task = allocate_task(sizeof(Spawned), alignof(Spawned), &payload);
  renew(task, nullptr);
  task->icvs = &team->icvs;
  task->body = run_body;
  task->data = new (payload) Spawned{.program = body};
  task->final = false;
  task->priority = 0;
  task->for_agents = true;
  task->team = team;
  task->tool = {};
  // Relaxed: giving it to the agents is a release.
  task->unblocked.store(false, std::memory_order_relaxed);
  task->open.store(2, std::memory_order_relaxed);  // the end of the body, and the agent
  tool::create_spawned(member, task);
  work_beside_agents(member);
  core::want_worker_beside_roots();
  give_to_agents(task);
}

void set_suspend_mode(Task* task, SuspendMode mode, uint64_t ns) noexcept {
  Spawned* spawned = spawned_of(task);
  spawned->mode = mode;
  spawned->timeout_ns = static_cast<int64_t>(std::min<uint64_t>(ns, INT64_MAX));
}

void suspend_after_body(Task* task) noexcept { spawned_of(task)->suspended = true; }

void report_completion(const Task* task) noexcept {
  const SpawnedBody& program = spawned_of(task)->program;
  if (program.completed != nullptr) program.completed(program.completed_argument);
}

}  // namespace weft::openmp
