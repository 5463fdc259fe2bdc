// SPDX-License-Identifier: Apache-2.0
// GOMP: taskloop. Each task gets a copy of the program's data, whose first two words are its bounds.
#include <cstring>

#include "openmp/gomp/loop.h"
#include "openmp/gomp/reduction.h"
#include "openmp/gomp/task.h"
#include "openmp/task_loop.h"

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
};

void submit(Member* member, const Source& source, uint64_t begin, uint64_t end) {
  void* payload = nullptr;
  Task* task = allocate_task(static_cast<size_t>(source.size), static_cast<size_t>(source.alignment), &payload);
  task->body = run_task;
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
  TaskClauses clauses;
  clauses.deferred = (source.flags & kIf) != 0;
  clauses.final = (source.flags & kFinal) != 0;
  submit_task(member, task, clauses);
}

void run(const Source& source, uint64_t said, uint64_t first, uint64_t step, uint64_t count) {
  Member* member = self();
  if (ompt::on()) ompt::begin_task_loop(member, count);
  TaskLoopClauses clauses;
  ((source.flags & kGrainSize) != 0 ? clauses.grain_size : clauses.task_count) = said;
  clauses.strict = (source.flags & kStrict) != 0;
  const TaskLoopPlan plan(count, clauses, member->team->size);
  const bool grouped = (source.flags & kNoGroup) == 0;
  if (grouped) {
    begin_taskgroup(member);
    if ((source.flags & kReduction) != 0) {
      // The third word of the data.
      auto* blocks = static_cast<Words**>(source.data)[2];
      register_reductions(blocks, nullptr, nullptr, member->team->size);
      member->task->group->gomp_reductions = blocks;
    }
  }
  for (uint64_t i = 0; i < plan.tasks(); ++i) {
    submit(member, source, first + plan.begin(i) * step, first + plan.begin(i + 1) * step);
  }
  if (grouped) end_taskgroup(member);
  if (ompt::on()) ompt::end_task_loop(member, count);
}

}  // namespace

WEFT_ABI void weft_abi_GOMP_taskloop(Function function, void* data, Copy copy, long size, long alignment,
                                     unsigned flags, unsigned long said, int, long start, long end, long step) {
  const ompt::Entry entry(WEFT_CALLER);
  run({function, data, copy, size, alignment, flags}, said, static_cast<uint64_t>(start), static_cast<uint64_t>(step),
      count_of(start, end, step));
}
WEFT_ABI_EXPORT(GOMP_taskloop);

WEFT_ABI void weft_abi_GOMP_taskloop_ull(Function function, void* data, Copy copy, long size, long alignment,
                                         unsigned flags, unsigned long said, int, Ull start, Ull end, Ull step) {
  const ompt::Entry entry(WEFT_CALLER);
  run({function, data, copy, size, alignment, flags}, said, start, step,
      count_of((flags & kUp) != 0, start, end, step));
}
WEFT_ABI_EXPORT(GOMP_taskloop_ull);
