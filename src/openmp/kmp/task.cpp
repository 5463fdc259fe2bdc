// SPDX-License-Identifier: Apache-2.0
// KMP: explicit tasks.
#include <new>

#include "base/small_list.h"
#include "openmp/kmp/task.h"
#include "openmp/task/dependences.h"
#include "openmp/task/task_run.h"
#include "openmp/team/cancel.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

// Privates may be vectors.
constexpr size_t kAlignment = 64;
constexpr size_t kLinkRoom = kAlignment;

// A task without a routine has its dependences only: a taskwait that does not wait.
int32_t do_nothing(int32_t, KmpTask*) { return 0; }

void run_kmp_task(Task* task) {
  auto* record = static_cast<KmpTask*>(task->data);
  if (is_dropped(task)) {
    tool::discard(task);
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

[[gnu::always_inline]] inline void submit(Member* member, KmpTask* record, Dependences* dependences,
                                          tool::Listener listener) {
  Link* link = link_of(record);
  if (member->task == link->task) {
    link->again = true;
    return;
  }
  TaskClauses clauses = clauses_of(record, true);
  if (dependences != nullptr) {
    clauses.dependences = dependences->begin();
    clauses.dependence_count = dependences->size();
  }
  submit_task(member, link->task, clauses, listener);
}

[[gnu::always_inline]] inline int32_t submit_deferred(KmpTask* record, Dependences* dependences = nullptr) {
  tool::enter([=](Member* member, auto listener, const void*) { submit(member, record, dependences, listener); });
  return 0;
}

}  // namespace

KmpTask* kmp::allocate_record(int32_t flags, size_t record_size, size_t shareds_size, Routine routine) {
  constexpr size_t kUnit = 16;
  record_size = (record_size + kUnit - 1) / kUnit * kUnit;
  void* payload = nullptr;
  Task* task = allocate_task(kLinkRoom + record_size + shareds_size, kAlignment, &payload);
  auto* record = reinterpret_cast<KmpTask*>(static_cast<char*>(payload) + kLinkRoom);
  new (link_of(record)) Link{task, flags, false, record_size, shareds_size};
  record->shareds = shareds_size > 0 ? reinterpret_cast<char*>(record) + record_size : nullptr;
  record->routine = routine != nullptr ? routine : do_nothing;
  record->part = 0;
  task->body = run_kmp_task;
  task->data = record;
  if ((flags & (kDetachable | kProxy)) != 0) make_detachable(task);
  return record;
}

void** kmp::pending_work(const Member* member) noexcept {
  const Task* task = member->task;
  return !task->implicit && tool::has_body(task, run_kmp_task) ? &link_of(static_cast<KmpTask*>(task->data))->pending
                                                               : nullptr;
}

WEFT_ABI(KmpTask*, __kmpc_omp_task_alloc)(Ident*, int32_t, int32_t flags, size_t record_size, size_t shareds_size,
                                          Routine routine) {
  return allocate_record(flags, record_size, shareds_size, routine);
}

WEFT_ABI(int32_t, __kmpc_omp_task)(Ident*, int32_t, KmpTask* record) { return submit_deferred(record); }

WEFT_ABI(int32_t, __kmpc_omp_task_parts)(Ident*, int32_t, KmpTask* record) { return submit_deferred(record); }

WEFT_ABI(int32_t, __kmpc_omp_task_with_deps)(Ident*, int32_t, KmpTask* record, int32_t count, KmpDepend* depends,
                                             int32_t other_count, KmpDepend* others) {
  Dependences list(depends, count, others, other_count);
  return submit_deferred(record, &list);
}

WEFT_ABI(void, __kmpc_omp_wait_deps)(Ident*, int32_t, int32_t count, KmpDepend* depends, int32_t other_count,
                                     KmpDepend* others) {
  const tool::Entry entry(WEFT_CALLER);
  Dependences list(depends, count, others, other_count);
  task_wait_for(self(), list.begin(), list.size());
}

// nowait: the dependences of an empty task.
WEFT_ABI(void, __kmpc_omp_taskwait_deps_51)(Ident*, int32_t, int32_t count, KmpDepend* depends, int32_t other_count,
                                            KmpDepend* others, int32_t nowait) {
  const tool::Entry entry(WEFT_CALLER);
  Dependences list(depends, count, others, other_count);
  if (nowait == 0) {
    task_wait_for(self(), list.begin(), list.size());
  } else {
    submit_empty_task(self(), list.begin(), list.size());
  }
}

// The event of a detachable task: the handle that omp_fulfill_event takes.
WEFT_ABI(Task*, __kmpc_task_allow_completion_event)(Ident*, int32_t, KmpTask* record) { return link_of(record)->task; }

// if(false): the program calls the routine itself between these two.
WEFT_ABI(void, __kmpc_omp_task_begin_if0)(Ident*, int32_t, KmpTask* record) {
  tool::enter([=](Member* member, auto listener, const void*) {
    const Link* link = link_of(record);
    begin_undeferred(member, link->task, (link->flags & kFinal) != 0, listener);
  });
}

WEFT_ABI(void, __kmpc_omp_task_complete_if0)(Ident*, int32_t, KmpTask* record) {
  tool::enter([=](Member* member, auto listener, const void*) {
    run_remaining_parts(record);
    end_undeferred(member, link_of(record)->task, listener);
  });
}

WEFT_ABI(int32_t, __kmpc_omp_taskwait)(Ident*, int32_t) {
  tool::enter([](Member* member, auto listener, const void* caller) { task_wait(member, caller, listener); });
  return 0;
}

WEFT_ABI(int32_t, __kmpc_omp_taskyield)(Ident*, int32_t, int32_t) {
  task_yield(self(), WEFT_CALLER);
  return 0;
}
