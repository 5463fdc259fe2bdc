// SPDX-License-Identifier: Apache-2.0
// Records a context keeps for its next constructs, so that regions and tasks allocate nothing. When an application
// thread ends, its store goes to the next thread that comes.
#pragma once

#include "openmp/task_pool.h"
#include "openmp/team.h"
#include "openmp/team_affinity.h"

namespace weft::openmp {

// A member of a woven team. Not on the stack: a child task that ends last looks at its parent's implicit task once
// more.
struct Frame {
  Member member;
  Frame* next = nullptr;
};

struct Store {
  Frame* frames = nullptr;
  Team* teams = nullptr;
  TaskGroup* groups = nullptr;  // linked by `outer`
  TaskPool tasks;
  SeatsShown shown;
  Store* next_free = nullptr;
};

extern constinit thread_local Store* t_store;

// The calling context's; the first call takes or makes one. Without memory the process ends with a message.
Store* take_store() noexcept;
inline Store& store() noexcept {
  Store* mine = t_store;
  return __builtin_expect(mine != nullptr, 1) ? *mine : *take_store();
}

// The calling thread ends.
void put_store() noexcept;

Member* take_frame() noexcept;
void put_frame(Member* member) noexcept;

// A team record for a woven region.
Team* take_team() noexcept;
void put_team(Team* team) noexcept;

TaskGroup* take_group() noexcept;
void put_group(TaskGroup* group) noexcept;

}  // namespace weft::openmp
