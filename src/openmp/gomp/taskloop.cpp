// SPDX-License-Identifier: Apache-2.0
// GOMP: taskloop. Each task gets a copy of the program's data, whose first two words are its bounds.
#include <algorithm>
#include <cstring>
#include <new>

#include "openmp/gomp/loop.h"
#include "openmp/gomp/task.h"
#include "openmp/task/reduction_blocks.h"
#include "openmp/task/task_loop.h"

using namespace weft::openmp;
using namespace weft::openmp::gomp;
using Ull = unsigned long long;

namespace {

// Bits of `flags` (gcc's gomp-constants.h).
constexpr unsigned kUp = 1u << 8;
constexpr unsigned kGrainSize = 1u << 9;
constexpr unsigned kIf = 1u << 10;
constexpr unsigned kNoGroup = 1u << 11;
constexpr unsigned kReduction = 1u << 12;
constexpr unsigned kStrict = 1u << 14;

struct Source {
  Function function;
  void* data;
  Copy copy;
  long size;
  long alignment;
  unsigned flags;
  int priority;
};

// One of the tasks where each is made by the thread that meets the loop, since its data have constructors.
void submit(Member* member, const Source& source, const TaskClauses& clauses, uint64_t begin, uint64_t end,
            uint64_t count) {
  void* payload = nullptr;
  Task* task = allocate_task(static_cast<size_t>(source.size), static_cast<size_t>(source.alignment), &payload);
  task->body = body_for(source.copy);
  task->function = source.function;
  task->data = payload;
  if (source.copy != nullptr) {
    source.copy(payload, source.data);
  } else {
    std::memcpy(payload, source.data, static_cast<size_t>(source.size));
  }
  auto* bounds = static_cast<uint64_t*>(payload);
  bounds[0] = begin;
  bounds[1] = end;
  tool::announce_chunk(begin, count);
  submit_task(member, task, clauses);
}

// What stands before the data of a pattern.
struct Pattern {
  size_t size;
  size_t alignment;
  uint64_t first;
  uint64_t step;
  void* data;
};

Task* make_pattern(const Source& source, uint64_t first, uint64_t step) {
  const auto size = static_cast<size_t>(source.size);
  const size_t alignment = std::max(static_cast<size_t>(source.alignment), alignof(Pattern));
  const size_t before = (sizeof(Pattern) + alignment - 1) / alignment * alignment;
  void* payload = nullptr;
  Task* task = allocate_task(before + size, alignment, &payload);
  void* data = static_cast<char*>(payload) + before;
  std::memcpy(data, source.data, size);
  task->function = source.function;
  task->data = new (payload) Pattern{size, alignment, first, step, data};
  return task;
}

Task* copy_pattern(Task* from) {
  const auto* pattern = static_cast<const Pattern*>(from->data);
  void* payload = nullptr;
  Task* task = allocate_task(pattern->size, pattern->alignment, &payload);
  std::memcpy(payload, pattern->data, pattern->size);
  task->function = from->function;
  task->data = payload;
  return task;
}

// The program does not write to its data, so they serve several tasks.
void run_iterations(Task* task, Task* from, uint64_t begin, uint64_t end) {
  const auto* pattern = static_cast<const Pattern*>(from->data);
  auto* bounds = static_cast<uint64_t*>(task->data);
  bounds[0] = pattern->first + begin * pattern->step;
  bounds[1] = pattern->first + end * pattern->step;
  task->function(task->data);
}

void run(const Source& source, uint64_t said, uint64_t first, uint64_t step, uint64_t count) {
  Member* member = self();
  tool::begin_task_loop(member, count);
  TaskLoopClauses cut;
  ((source.flags & kGrainSize) != 0 ? cut.grain_size : cut.task_count) = said;
  cut.strict = (source.flags & kStrict) != 0;
  const TaskLoopPlan plan(count, cut, member->team->size);
  TaskClauses clauses;
  clauses.deferred = (source.flags & kIf) != 0;
  clauses.final = (source.flags & kFinal) != 0;
  if ((source.flags & kPriority) != 0) clauses.priority = source.priority;
  const bool grouped = (source.flags & kNoGroup) == 0;
  if (grouped) {
    begin_taskgroup(member);
    if ((source.flags & kReduction) != 0) {
      // The third word of the data.
      add_reduction_blocks(member, static_cast<Words**>(source.data)[2]);
    }
  }
  if (source.copy == nullptr && suits_runners(plan)) {
    run_task_loop(member, plan, {copy_pattern, run_iterations}, make_pattern(source, first, step), clauses);
  } else {
    for (uint64_t i = 0; i < plan.tasks(); ++i) {
      submit(member, source, clauses, first + plan.begin(i) * step, first + plan.begin(i + 1) * step,
             plan.begin(i + 1) - plan.begin(i));
    }
  }
  if (grouped) end_taskgroup(member);
  tool::end_task_loop(member, count);
}

}  // namespace

WEFT_ABI(void, GOMP_taskloop)(Function function, void* data, Copy copy, long size, long alignment, unsigned flags,
                              unsigned long said, int priority, long start, long end, long step) {
  const tool::Entry entry(WEFT_CALLER);
  run({function, data, copy, size, alignment, flags, priority}, said, static_cast<uint64_t>(start),
      static_cast<uint64_t>(step), count_of(start, end, step));
}

WEFT_ABI(void, GOMP_taskloop_ull)(Function function, void* data, Copy copy, long size, long alignment, unsigned flags,
                                  unsigned long said, int priority, Ull start, Ull end, Ull step) {
  const tool::Entry entry(WEFT_CALLER);
  run({function, data, copy, size, alignment, flags, priority}, said, start, step,
      count_of((flags & kUp) != 0, start, end, step));
}
