// SPDX-License-Identifier: Apache-2.0
#include "observe/record/trace/events.h"

#include <new>

#include <time.h>
#include <unistd.h>

#include "observe/format/events.h"

namespace weft::observe::trace {

namespace {

struct Region {
  uint64_t id;
  uint16_t level;
  const void* caller;
};

struct Task {
  uint64_t id;
  uint64_t team;  // of its creator; 0: none
  const void* caller;
};

std::atomic<Log*> g_logs{nullptr};
std::atomic<int> g_log_count{0};
std::atomic<uint64_t> g_regions{0};
std::atomic<uint64_t> g_tasks{0};
weft_get_carrier_t g_carrier = nullptr;
ompt_get_parallel_info_t g_parallel_info = nullptr;

thread_local Log* t_log = nullptr;
thread_local int t_open = 0;  // things begun and not ended
thread_local uint16_t t_level = 0;

Record record(What what) noexcept {
  Record made;
  made.time = now();
  made.what = what;
  made.carrier = g_carrier();
  made.level = t_level;
  return made;
}

void begin(const Record& record) noexcept {
  if (t_log == nullptr) return;
  ++t_open;
  t_log->append(record);
}

void end() noexcept {
  if (t_log == nullptr || t_open == 0) return;
  --t_open;
  t_log->append(record(What::end));
}

void begin_or_end(ompt_scope_endpoint_t endpoint, What what, int kind, const void* caller) noexcept {
  if (endpoint == ompt_scope_end) return end();
  Record made = record(what);
  made.kind = static_cast<uint8_t>(kind);
  made.caller = caller;
  begin(made);
}

void on_thread_begin(ompt_thread_t kind, ompt_data_t*) {
  t_log = new (std::nothrow) Log;
  if (t_log == nullptr) return;
  if (kind == ompt_thread_initial) {
    t_log->thread = gettid();
    t_log->began = now();
  }
  t_log->number = g_log_count.fetch_add(1, std::memory_order_relaxed);
  // Release: a thread that finds the log finds it complete.
  t_log->next = g_logs.load(std::memory_order_relaxed);
  while (!g_logs.compare_exchange_weak(t_log->next, t_log, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

// The log stays, for the file.
void on_thread_end(ompt_data_t*) {
  // Relaxed: a time for a report, read when the program has ended.
  if (t_log != nullptr) t_log->ended.store(now(), std::memory_order_relaxed);
  t_log = nullptr;
  t_open = 0;
}

void on_parallel_begin(ompt_data_t*, const ompt_frame_t*, ompt_data_t* parallel, unsigned requested, int,
                       const void* caller) {
  const uint64_t id = g_regions.fetch_add(1, std::memory_order_relaxed) + 1;
  parallel->ptr = new (std::nothrow) Region{id, static_cast<uint16_t>(t_level + 1), caller};
  if (t_log == nullptr) return;
  Record made = record(What::region);
  made.id = id;
  made.number = static_cast<int32_t>(requested);
  t_log->append(made);
}

void on_loop(ompt_data_t* parallel, const weft_loop_totals_t* totals) {
  const auto* region = static_cast<const Region*>(parallel->ptr);
  auto* kept = new (std::nothrow) weft_loop_totals_t(*totals);
  if (t_log == nullptr || region == nullptr || kept == nullptr) {
    delete kept;
    return;
  }
  Record made = record(What::loop);
  made.id = region->id;
  made.loop = kept;
  t_log->append(made);
}

void on_parallel_end(ompt_data_t* parallel, ompt_data_t*, int, const void*) {
  delete static_cast<Region*>(parallel->ptr);
}

// A member remembers in its task's data, plus 1, at which level its context was before; 0: it is not shown.
void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task, unsigned size,
                      unsigned number, int flags) {
  if (endpoint == ompt_scope_end) {
    if (task->value == 0) return;
    t_level = static_cast<uint16_t>(task->value - 1);
    return end();
  }
  const auto* region = parallel != nullptr ? static_cast<const Region*>(parallel->ptr) : nullptr;
  // The initial task of a thread of the program's: what is outside of all regions is not shown.
  if (region == nullptr && (flags & ompt_task_initial) != 0) return;
  task->value = uint64_t{t_level} + 1;
  t_level = region != nullptr ? region->level : static_cast<uint16_t>(t_level + 1);
  Record made = record(What::member);
  made.number = static_cast<int32_t>(number);
  made.size = static_cast<int32_t>(size);
  if (region != nullptr) {
    made.id = region->id;
    made.caller = region->caller;
  }
  begin(made);
}

uint64_t team_of_caller() noexcept {
  ompt_data_t* parallel = nullptr;
  constexpr int kFound = 2;
  if (g_parallel_info(0, &parallel, nullptr) != kFound || parallel == nullptr) return 0;
  const auto* region = static_cast<const Region*>(parallel->ptr);
  return region != nullptr ? region->id : 0;
}

void on_task_create(ompt_data_t*, const ompt_frame_t*, ompt_data_t* task, int, int, const void* caller) {
  const uint64_t id = g_tasks.fetch_add(1, std::memory_order_relaxed) + 1;
  task->ptr = new (std::nothrow) Task{id, team_of_caller(), caller};
}

void on_task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  switch (status) {
    case ompt_task_yield:
    case ompt_task_switch: {
      Record made = record(What::task);
      if (const auto* task = static_cast<const Task*>(next->ptr)) {
        made.id = task->id;
        made.set_team(task->team);
        made.caller = task->caller;
      }
      return begin(made);
    }
    case ompt_task_detach: return end();
    case ompt_task_complete:
    case ompt_task_cancel: end(); break;
    default: break;
  }
  if (ends_task(status)) delete static_cast<Task*>(prior->ptr);
}

void on_sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*,
                         const void* caller) {
  begin_or_end(endpoint, What::wait, kind, caller);
}

void on_work(ompt_work_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*, uint64_t count,
             const void* caller) {
  if (kind == ompt_work_single_other) return;
  if (endpoint == ompt_scope_end) return end();
  Record made = record(What::work);
  made.kind = static_cast<uint8_t>(kind);
  made.id = count;
  made.caller = caller;
  begin(made);
}

void on_masked(ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*, const void* caller) {
  begin_or_end(endpoint, What::work, observe::kMaskedWork, caller);
}

bool waits(ompt_mutex_t kind) noexcept { return kind != ompt_mutex_test_lock && kind != ompt_mutex_test_nest_lock; }

void on_mutex_acquire(ompt_mutex_t kind, unsigned, unsigned, ompt_wait_id_t, const void* caller) {
  if (waits(kind)) begin_or_end(ompt_scope_begin, What::wait, observe::kMutexes + kind, caller);
}

void on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t, const void*) {
  if (waits(kind)) end();
}

void on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t, const void*) {
  if (t_log == nullptr || (kind != ompt_mutex_critical && kind != ompt_mutex_ordered)) return;
  t_log->append(record(What::release));
}

// A nestable lock that its owner takes again.
void on_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t, const void*) {
  if (endpoint == ompt_scope_begin) end();
}

// Contexts that have nothing open come and go unseen.
void on_switch(weft_switch_t what, int carrier) {
  if (t_log == nullptr || t_open == 0) return;
  Record made;
  made.time = now();
  made.what = what == weft_switch_leave ? What::leave : What::resume;
  made.carrier = carrier;
  t_log->append(made);
}

}  // namespace

int64_t now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

const Log* logs() noexcept { return g_logs.load(std::memory_order_acquire); }

void prepare_events(const RuntimeCalls& runtime) noexcept {
  g_carrier = runtime.carrier;
  g_parallel_info = runtime.parallel_info;
}

void note(const base::TracedCall& call) noexcept {
  // A thread that has nothing to do with OpenMP.
  if (t_log == nullptr) on_thread_begin(ompt_thread_other, nullptr);
  auto* kept = new (std::nothrow) base::TracedCall(call);
  if (t_log == nullptr || kept == nullptr) {
    delete kept;
    return;
  }
  Record made;
  made.time = call.began;
  made.what = What::call;
  made.call = kept;
  t_log->append(made);
}

constinit const Events kTraceEvents = {
    .thread_begin = on_thread_begin,
    .thread_end = on_thread_end,
    .parallel_begin = on_parallel_begin,
    .parallel_end = on_parallel_end,
    .implicit_task = on_implicit_task,
    .task_create = on_task_create,
    .task_schedule = on_task_schedule,
    .sync_region_wait = on_sync_region_wait,
    .work = on_work,
    .masked = on_masked,
    .mutex_acquire = on_mutex_acquire,
    .mutex_acquired = on_mutex_acquired,
    .mutex_released = on_mutex_released,
    .nest_lock = on_nest_lock,
    .loop = on_loop,
    .change_of_carrier = on_switch,
};

}  // namespace weft::observe::trace
