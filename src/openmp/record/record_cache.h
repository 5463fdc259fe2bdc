// SPDX-License-Identifier: Apache-2.0
// Records a context keeps for its next constructs, so that regions and tasks allocate nothing. When an application
// thread ends, its store goes to the next thread that comes.
#pragma once

#include "openmp/record/placement.h"
#include "openmp/record/task_pool.h"
#include "openmp/record/team.h"

namespace weft::openmp {

// A member of a woven team. Not on the stack: a child task that ends last looks at its parent's implicit task once
// more.
struct Frame {
  Member member;
  Frame* next = nullptr;
};

struct RecordCache {
  Frame* frames = nullptr;
  Team* teams = nullptr;
  TaskGroup* groups = nullptr;  // linked by `outer`
  TaskPool tasks;
  TaskReturns returns;
  PlacesShown shown;
  RecordCache* next_free = nullptr;
};

extern constinit thread_local RecordCache* t_record_cache;

// Room for the first records of so many threads that are about to come: else each would call malloc, and as its first
// call, for which glibc makes an arena with two mappings of its own.
void reserve_records(int threads) noexcept;

// The calling context's; the first call takes or makes one. Without memory the process ends with a message.
RecordCache* take_record_cache() noexcept;
inline RecordCache& store() noexcept {
  RecordCache* mine = t_record_cache;
  return __builtin_expect(mine != nullptr, 1) ? *mine : *take_record_cache();
}

// The calling thread ends.
void put_record_cache() noexcept;

Member* take_frame() noexcept;
void put_frame(Member* member) noexcept;

// A team record for a region that is not outermost.
Team* take_team(RegionKind kind) noexcept;
void put_team(Team* team) noexcept;

TaskGroup* take_group() noexcept;
void put_group(TaskGroup* group) noexcept;

}  // namespace weft::openmp
