// SPDX-License-Identifier: Apache-2.0
// KMP: explicit tasks. The program sees a record of its own layout, which we allocate behind ours.
#include <cstring>
#include <new>

#include "base/small_list.h"
#include "openmp/kmp/task.h"
#include "openmp/task/dependences.h"
#include "openmp/task/task_loop.h"
#include "openmp/team/cancel.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

// Bits of `flags`.
constexpr int32_t kFinal = 1 << 1;
constexpr int32_t kDestructors = 1 << 3;
constexpr int32_t kProxy = 1 << 4;  // ends when __kmpc_proxy_task_completed says so: like a detachable one
constexpr int32_t kPriority = 1 << 5;
constexpr int32_t kDetachable = 1 << 6;
constexpr int32_t kFreeAgents = 1 << 7;

// Stands before the program's record.
struct alignas(16) Link {
  Task* task;
  int32_t flags;
  bool again;  // an untied task has submitted itself: its next part is due
  size_t record_size;  // of the program's record, rounded up
  size_t shareds_size;
  // Of the pattern of a taskloop: where the record holds its bounds, and the loop's step.
  uint32_t lower = 0;
  uint32_t upper = 0;
  int64_t step = 0;
  void* pending = nullptr;  // see pending_work()
};

// Privates may be vectors.
constexpr size_t kAlignment = 64;
constexpr size_t kLinkRoom = kAlignment;

Link* link_of(const KmpTask* task) noexcept {
  return reinterpret_cast<Link*>(reinterpret_cast<uintptr_t>(task) - sizeof(Link));
}

void run_destructors(KmpTask* record) noexcept {
  if ((link_of(record)->flags & kDestructors) != 0) record->destructors.destructors(self()->number, record);
}

// The compiler cuts an untied task at its scheduling points: a part ends by submitting the task once more, and
// the routine goes on with the next part when it is called again. Here the same member runs them all in turn.
void run_remaining_parts(KmpTask* record) {
  while (link_of(record)->again) {
    link_of(record)->again = false;
    record->routine(self()->number, record);
  }
  run_destructors(record);
}

// A task without a routine has its dependences only: a taskwait that does not wait.
int32_t do_nothing(int32_t, KmpTask*) { return 0; }

void run_task(Task* task) {
  auto* record = static_cast<KmpTask*>(task->data);
  if (is_dropped(task)) {
    if (ompt::on()) ompt::discard(task);
    run_destructors(record);
    return;
  }
  record->routine(self()->number, record);
  while (link_of(record)->pending != nullptr) {
    yield_to_task(self());
    record->routine(self()->number, record);
  }
  run_remaining_parts(record);
}

// A dependence as the compiler writes it (kmp_depend_info_t).
struct KmpDepend {
  void* location;
  size_t length;
  uint8_t flags;
};
enum : uint8_t { kDependIn = 1, kDependOut = 2, kDependMutex = 4, kDependSet = 8, kDependAll = 0x80 };

// clang writes out as inout, too.
DependKind kind_of(uint8_t flags) noexcept {
  if ((flags & kDependSet) != 0) return DependKind::inoutset;
  if ((flags & kDependMutex) != 0) return DependKind::mutexinoutset;
  if ((flags & kDependOut) == 0) return DependKind::in;
  return (flags & kDependIn) != 0 ? DependKind::inout : DependKind::out;
}

// omp_all_memory has a flag of its own, or this address.
void* every_location() noexcept { return reinterpret_cast<void*>(~uintptr_t{0}); }

// The two lists that a call brings.
class Dependences {
 public:
  Dependences(const KmpDepend* some, int32_t some_count, const KmpDepend* others, int32_t other_count) noexcept {
    read(some, some_count);
    read(others, other_count);
  }
  ~Dependences() { list_.free_memory(); }
  Dependences(const Dependences&) = delete;
  Dependences& operator=(const Dependences&) = delete;

  const Dependence* begin() noexcept { return list_.begin(); }
  int size() const noexcept { return list_.size(); }

 private:
  void read(const KmpDepend* from, int32_t count) noexcept {
    for (int32_t i = 0; i < count; ++i) {
      const uint8_t flags = from[i].flags;
      const bool all = (flags & kDependAll) != 0 || from[i].location == nullptr || from[i].location == every_location();
      list_.add(all ? Dependence{nullptr, DependKind::out} : Dependence{from[i].location, kind_of(flags)});
    }
  }

  base::SmallList<Dependence, 8> list_;
};

KmpTask* allocate(int32_t flags, size_t record_size, size_t shareds_size, Routine routine) {
  void* payload = nullptr;
  Task* task = allocate_task(kLinkRoom + record_size + shareds_size, kAlignment, &payload);
  auto* record = reinterpret_cast<KmpTask*>(static_cast<char*>(payload) + kLinkRoom);
  new (link_of(record)) Link{task, flags, false, record_size, shareds_size};
  record->shareds = shareds_size > 0 ? reinterpret_cast<char*>(record) + record_size : nullptr;
  record->routine = routine != nullptr ? routine : do_nothing;
  record->part = 0;
  task->body = run_task;
  task->data = record;
  if ((flags & (kDetachable | kProxy)) != 0) make_detachable(task);
  return record;
}

template <bool Told = true>
void submit(Member* member, KmpTask* record, bool deferred, Dependences* dependences = nullptr) {
  Link* link = link_of(record);
  if (member->task == link->task) {
    link->again = true;
    return;
  }
  TaskClauses clauses;
  clauses.deferred = deferred;
  clauses.final = (link->flags & kFinal) != 0;
  clauses.detachable = (link->flags & (kDetachable | kProxy)) != 0;
  clauses.free_agents = (link->flags & kFreeAgents) != 0;
  if ((link->flags & kPriority) != 0) clauses.priority = record->priority.priority;
  if (dependences != nullptr) {
    clauses.dependences = dependences->begin();
    clauses.dependence_count = dependences->size();
  }
  submit_task<Told>(member, link->task, clauses);
}

[[gnu::always_inline]] inline int32_t submit_deferred(KmpTask* record, Dependences* dependences = nullptr) {
  ompt::enter([=](Member* member, auto told, const void*) { submit<told>(member, record, true, dependences); });
  return 0;
}

}  // namespace

KmpTask* kmp::allocate_record(int32_t flags, size_t record_size, size_t shareds_size, Routine routine) {
  constexpr size_t kUnit = 16;
  return allocate(flags, (record_size + kUnit - 1) / kUnit * kUnit, shareds_size, routine);
}

Task* kmp::task_of(KmpTask* record) noexcept { return link_of(record)->task; }

void** kmp::pending_work(const Member* member) noexcept {
  const Task* task = member->task;
  return !task->implicit && ompt::has_body(task, run_task) ? &link_of(static_cast<KmpTask*>(task->data))->pending
                                                           : nullptr;
}

WEFT_ABI KmpTask* weft_abi___kmpc_omp_task_alloc(Ident*, int32_t, int32_t flags, size_t record_size,
                                                 size_t shareds_size, Routine routine) {
  return allocate_record(flags, record_size, shareds_size, routine);
}
WEFT_ABI_EXPORT(__kmpc_omp_task_alloc);

WEFT_ABI int32_t weft_abi___kmpc_omp_task(Ident*, int32_t, KmpTask* record) { return submit_deferred(record); }
WEFT_ABI_EXPORT(__kmpc_omp_task);

WEFT_ABI int32_t weft_abi___kmpc_omp_task_parts(Ident*, int32_t, KmpTask* record) { return submit_deferred(record); }
WEFT_ABI_EXPORT(__kmpc_omp_task_parts);

WEFT_ABI int32_t weft_abi___kmpc_omp_task_with_deps(Ident*, int32_t, KmpTask* record, int32_t count, KmpDepend* depends,
                                                    int32_t other_count, KmpDepend* others) {
  Dependences list(depends, count, others, other_count);
  return submit_deferred(record, &list);
}
WEFT_ABI_EXPORT(__kmpc_omp_task_with_deps);

WEFT_ABI void weft_abi___kmpc_omp_wait_deps(Ident*, int32_t, int32_t count, KmpDepend* depends, int32_t other_count,
                                            KmpDepend* others) {
  const ompt::Entry entry(WEFT_CALLER);
  Dependences list(depends, count, others, other_count);
  task_wait_for(self(), list.begin(), list.size());
}
WEFT_ABI_EXPORT(__kmpc_omp_wait_deps);

// nowait: the dependences of an empty task.
WEFT_ABI void weft_abi___kmpc_omp_taskwait_deps_51(Ident*, int32_t, int32_t count, KmpDepend* depends,
                                                   int32_t other_count, KmpDepend* others, int32_t nowait) {
  const ompt::Entry entry(WEFT_CALLER);
  Dependences list(depends, count, others, other_count);
  if (nowait == 0) {
    task_wait_for(self(), list.begin(), list.size());
  } else {
    submit_empty_task(self(), list.begin(), list.size());
  }
}
WEFT_ABI_EXPORT(__kmpc_omp_taskwait_deps_51);

// The event of a detachable task: the handle that omp_fulfill_event takes.
WEFT_ABI Task* weft_abi___kmpc_task_allow_completion_event(Ident*, int32_t, KmpTask* record) {
  return link_of(record)->task;
}
WEFT_ABI_EXPORT(__kmpc_task_allow_completion_event);

// if(false): the program calls the routine itself between these two.
WEFT_ABI void weft_abi___kmpc_omp_task_begin_if0(Ident*, int32_t, KmpTask* record) {
  ompt::enter([=](Member* member, auto told, const void*) {
    const Link* link = link_of(record);
    begin_undeferred<told>(member, link->task, (link->flags & kFinal) != 0);
  });
}
WEFT_ABI_EXPORT(__kmpc_omp_task_begin_if0);

WEFT_ABI void weft_abi___kmpc_omp_task_complete_if0(Ident*, int32_t, KmpTask* record) {
  ompt::enter([=](Member* member, auto told, const void*) {
    run_remaining_parts(record);
    end_undeferred<told>(member, link_of(record)->task);
  });
}
WEFT_ABI_EXPORT(__kmpc_omp_task_complete_if0);

WEFT_ABI int32_t weft_abi___kmpc_omp_taskwait(Ident*, int32_t) {
  ompt::enter([](Member* member, auto told, const void* caller) { task_wait<told>(member, caller); });
  return 0;
}
WEFT_ABI_EXPORT(__kmpc_omp_taskwait);

WEFT_ABI int32_t weft_abi___kmpc_omp_taskyield(Ident*, int32_t, int32_t) {
  task_yield(self(), WEFT_CALLER);
  return 0;
}
WEFT_ABI_EXPORT(__kmpc_omp_taskyield);

// ---- taskloop: the program brings one task as a pattern, whose record holds its bounds ----

namespace {

using Duplicate = void (*)(KmpTask* to, KmpTask* from, int32_t last);

// How `count` is cut, as the program says it.
enum Cut : int32_t { kFreely, kByGrainSize, kByTaskCount };

void copy_record(KmpTask* to, const KmpTask* pattern) {
  const Link* link = link_of(pattern);
  void* shareds = to->shareds;
  std::memcpy(to, pattern, link->record_size);
  to->shareds = shareds;
  if (link->shareds_size > 0) std::memcpy(shareds, pattern->shareds, link->shareds_size);
}

KmpTask* allocate_like(const KmpTask* pattern) {
  const Link* link = link_of(pattern);
  return allocate(link->flags, link->record_size, link->shareds_size, pattern->routine);
}

// A bound of a taskloop's task, so many bytes from the start of its record.
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
    if (ompt::on()) ompt::announce_chunk(bound(made, link_of(pattern)->lower), plan.begin(i + 1) - plan.begin(i));
    submit(self(), made, deferred);
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
  if (ompt::on()) ompt::begin_task_loop(member, count);
  if (grouped) begin_taskgroup(member);
  const bool needs_construction = duplicator != nullptr || (link->flags & kDestructors) != 0;
  if (!needs_construction && suits_runners(plan)) {
    TaskClauses clauses;
    clauses.deferred = deferred;
    clauses.final = (link->flags & kFinal) != 0;
    clauses.free_agents = (link->flags & kFreeAgents) != 0;
    if ((link->flags & kPriority) != 0) clauses.priority = pattern->priority.priority;
    run_task_loop(member, plan, {copy_pattern, run_iterations}, link->task, clauses);
  } else {
    submit_each(pattern, deferred, plan, duplicator);
  }
  if (grouped) end_taskgroup(member);
  if (ompt::on()) ompt::end_task_loop(member, count);
}

}  // namespace

WEFT_ABI void weft_abi___kmpc_taskloop(Ident*, int32_t, KmpTask* pattern, int32_t deferred, uint64_t* lower,
                                       uint64_t* upper, int64_t step, int32_t no_group, int32_t cut, uint64_t said,
                                       Duplicate duplicator) {
  const ompt::Entry entry(WEFT_CALLER);
  task_loop(pattern, deferred != 0, lower, upper, step, no_group == 0, cut, said, false, duplicator);
}
WEFT_ABI_EXPORT(__kmpc_taskloop);

WEFT_ABI void weft_abi___kmpc_taskloop_5(Ident*, int32_t, KmpTask* pattern, int32_t deferred, uint64_t* lower,
                                         uint64_t* upper, int64_t step, int32_t no_group, int32_t cut, uint64_t said,
                                         int32_t strict, Duplicate duplicator) {
  const ompt::Entry entry(WEFT_CALLER);
  task_loop(pattern, deferred != 0, lower, upper, step, no_group == 0, cut, said, strict != 0, duplicator);
}
WEFT_ABI_EXPORT(__kmpc_taskloop_5);
