// SPDX-License-Identifier: Apache-2.0
// KMP: taskloop. The program brings one task as a pattern, whose record holds its bounds.
#include <cstring>

#include "openmp/kmp/task.h"
#include "openmp/task/task_loop.h"

using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

using Duplicate = void (*)(KmpTask* to, KmpTask* from, int32_t last);

// How `count` is cut, as the program says it.
enum ChunkRule : int32_t { kFreely, kByGrainSize, kByTaskCount };

void copy_record(KmpTask* to, const KmpTask* pattern) {
  const Link* link = link_of(pattern);
  void* shareds = to->shareds;
  std::memcpy(to, pattern, link->record_size);
  to->shareds = shareds;
  if (link->shareds_size > 0) std::memcpy(shareds, pattern->shareds, link->shareds_size);
}

KmpTask* allocate_like(const KmpTask* pattern) {
  const Link* link = link_of(pattern);
  return allocate_record(link->flags, link->record_size, link->shareds_size, pattern->routine);
}

// A bound of a taskloop's task, that many bytes from the start of its record.
uint64_t& bound(KmpTask* record, uint32_t offset) noexcept {
  return *reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(record) + offset);
}

// The bounds are inclusive.
void set_bounds(KmpTask* record, KmpTask* pattern, uint64_t begin, uint64_t end) noexcept {
  const Link* link = link_of(pattern);
  const uint64_t first = bound(pattern, link->lower);
  const auto step = static_cast<uint64_t>(link->step);
  bound(record, link->lower) = first + begin * step;
  bound(record, link->upper) = first + (end - 1) * step;
}

uint64_t iterations(uint64_t first, uint64_t last, int64_t step) noexcept {
  const auto from = static_cast<int64_t>(first);
  const auto to = static_cast<int64_t>(last);
  if (step > 0) return from <= to ? (last - first) / static_cast<uint64_t>(step) + 1 : 0;
  return from >= to ? (first - last) / (uint64_t{0} - static_cast<uint64_t>(step)) + 1 : 0;
}

Task* copy_pattern(Task* pattern) { return link_of(allocate_like(static_cast<KmpTask*>(pattern->data)))->task; }

// The routine may write to its record: each task starts with the pattern's data.
void run_iterations(Task* task, Task* from, uint64_t begin, uint64_t end) {
  auto* record = static_cast<KmpTask*>(task->data);
  auto* pattern = static_cast<KmpTask*>(from->data);
  copy_record(record, pattern);
  set_bounds(record, pattern, begin, end);
  record->routine(self()->number, record);
  run_remaining_parts(record);
}

// Where the program's duplicator has to construct the tasks' data, they are made one by one.
void submit_each(KmpTask* pattern, bool deferred, const TaskLoopPlan& plan, Duplicate duplicator) {
  for (uint64_t i = 0; i < plan.tasks(); ++i) {
    KmpTask* made = allocate_like(pattern);
    copy_record(made, pattern);
    if (duplicator != nullptr) duplicator(made, pattern, i + 1 == plan.tasks() ? 1 : 0);
    set_bounds(made, pattern, plan.begin(i), plan.begin(i + 1));
    if (tool::is_on()) tool::announce_chunk(bound(made, link_of(pattern)->lower), plan.begin(i + 1) - plan.begin(i));
    submit_task(self(), task_of(made), clauses_of(made, deferred));
  }
  run_destructors(pattern);
  free_task(link_of(pattern)->task);
}

void task_loop(KmpTask* pattern, bool deferred, const uint64_t* lower, const uint64_t* upper, int64_t step,
               bool grouped, int32_t cut, uint64_t said, bool strict, Duplicate duplicator) {
  Member* member = self();
  Link* link = link_of(pattern);
  const auto* start = reinterpret_cast<const char*>(pattern);
  link->lower = static_cast<uint32_t>(reinterpret_cast<const char*>(lower) - start);
  link->upper = static_cast<uint32_t>(reinterpret_cast<const char*>(upper) - start);
  link->step = step;
  TaskLoopClauses cuts;
  if (cut == kByGrainSize) cuts.grain_size = said;
  if (cut == kByTaskCount) cuts.task_count = said;
  cuts.strict = strict;
  const uint64_t count = iterations(*lower, *upper, step);
  const TaskLoopPlan plan(count, cuts, member->team->size);
  tool::begin_task_loop(member, count);
  if (grouped) begin_taskgroup(member);
  const bool needs_construction = duplicator != nullptr || (link->flags & kDestructors) != 0;
  if (!needs_construction && suits_runners(plan)) {
    run_task_loop(member, plan, {copy_pattern, run_iterations}, link->task, clauses_of(pattern, deferred));
  } else {
    submit_each(pattern, deferred, plan, duplicator);
  }
  if (grouped) end_taskgroup(member);
  tool::end_task_loop(member, count);
}

}  // namespace

WEFT_ABI(void, __kmpc_taskloop)(Ident*, int32_t, KmpTask* pattern, int32_t deferred, uint64_t* lower, uint64_t* upper,
                                int64_t step, int32_t no_group, int32_t cut, uint64_t said, Duplicate duplicator) {
  const tool::Entry entry(WEFT_CALLER);
  task_loop(pattern, deferred != 0, lower, upper, step, no_group == 0, cut, said, false, duplicator);
}

WEFT_ABI(void, __kmpc_taskloop_5)(Ident*, int32_t, KmpTask* pattern, int32_t deferred, uint64_t* lower, uint64_t* upper,
                                  int64_t step, int32_t no_group, int32_t cut, uint64_t said, int32_t strict,
                                  Duplicate duplicator) {
  const tool::Entry entry(WEFT_CALLER);
  task_loop(pattern, deferred != 0, lower, upper, step, no_group == 0, cut, said, strict != 0, duplicator);
}
