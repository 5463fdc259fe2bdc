// SPDX-License-Identifier: Apache-2.0
#include "observe/record/profile/events.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "observe/account/meaning.h"
#include "observe/format/events.h"
#include "observe/record/profile/code_range.h"
#include "observe/record/profile/context_record.h"
#include "observe/record/profile/scale.h"
#include "weft/weft-tools.h"

namespace weft::observe {

namespace {

weft_get_carrier_t g_carrier = nullptr;
weft_set_tool_threads_t g_count_threads = nullptr;
int g_cpus = 1;
CodeRange g_runtime;

thread_local bool t_lent = false;  // the record is the caller's for as long as it helps a call of a library

template <class Number>
void raise(std::atomic<Number>& most, Number value) noexcept {
  Number seen = most.load(std::memory_order_relaxed);
  while (seen < value && !most.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

void on_thread_begin(ompt_thread_t kind, ompt_data_t*) { begin_record(kind == ompt_thread_initial); }
void on_thread_end(ompt_data_t*) { end_record(); }

void on_call(weft_call_t what) {
  if (t_record == nullptr) return;
  if (what == weft_call_enter) {
    t_record->enter_runtime();
  } else {
    t_record->leave_runtime();
  }
}

void on_switch(weft_switch_t what, int carrier) {
  if (t_record == nullptr) return;
  if (what == weft_switch_leave) {
    t_record->leave_carrier();
  } else {
    t_record->continue_on(carrier);
  }
}

// What is not told is counted here, and its time is spread later by what others of the same site were told to do.
// While nothing is recorded the region is a frame for on_region_after() to leave, and nothing else.
int on_region_wanted(const void* caller, weft_region_skip_t** skip) {
  *skip = nullptr;
  if (!is_recording()) {
    if (t_record != nullptr) t_record->push(t_record->node(), State::unseen);
    return 0;
  }
  if (t_record == nullptr) return 1;
  if (!t_lent) *skip = t_record->skip();
  Entry* entry = t_record->entry_of(t_record->node(), Kind::region, caller);
  if (entry == nullptr || entry->is_watched()) return 1;
  entry->count.add(1);
  entry->unwatched.add(1);
  t_record->push(entry->node, State::unwatched);
  t_record->begin_piece(entry);
  return 0;
}

void on_region_after() {
  if (t_record != nullptr) t_record->end_unwatched_region();
}

// A region's data is its node, and whether its members measure their work.
constexpr uint64_t kSampled = uint64_t{1} << 32;

void on_parallel_begin(ompt_data_t*, const ompt_frame_t*, ompt_data_t* parallel, unsigned requested, int,
                       const void* caller) {
  parallel->value = 0;
  if (t_record == nullptr) return;
  Entry* entry = t_record->push(Kind::region, caller);
  if (entry == nullptr) return;
  entry->count.add(1);
  parallel->value = entry->node;
  if (entry->has_unwatched()) {
    entry->sampled.add(1);
    parallel->value |= kSampled;
  }
  raise(g_nodes[entry->node].requested, static_cast<int>(requested));
  // From here on the caller is on its way into the region, as its primary.
  t_record->set_state(State::runtime);
  t_record->begin_piece(entry);
}

void on_parallel_end(ompt_data_t*, ompt_data_t*, int, const void* caller) {
  if (t_record == nullptr) return;
  t_record->pop();
  if (t_record->is_serial()) {
    t_record->set_serial(caller);
    t_record->set_state(State::runtime);  // until the call returns
  }
}

// A member remembers in its task's data that it has a frame, and that it measures its work.
constexpr uint64_t kHasFrame = 1;
constexpr uint64_t kMeasures = 2;

bool measures(const ompt_data_t* parallel) noexcept {
  if (parallel == nullptr || (parallel->value & kSampled) == 0) return false;
  const ConstructNode& site = g_nodes[static_cast<ConstructId>(parallel->value)];
  Entry* entry = t_record->entry_of(site.parent, site.kind, site.caller);
  return entry != nullptr && t_record->begin_work(entry);
}

void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task, unsigned size,
                      unsigned number, int flags) {
  if (t_record == nullptr) return;
  if (endpoint == ompt_scope_end) {
    if ((task->value & kMeasures) != 0) t_record->end_work();
    if ((task->value & kHasFrame) != 0) t_record->pop();
    return;
  }
  task->value = 0;
  const bool is_initial = (flags & ompt_task_initial) != 0;
  const ConstructId region = parallel != nullptr ? static_cast<ConstructId>(parallel->value) : 0;
  // The initial task of a thread of the program's has the outermost frame already.
  if (is_initial && region == 0) return;
  task->value = kHasFrame;
  t_record->continue_on(g_carrier());
  t_record->push(region, State::work);
  t_record->set_primary(number == 0);
  if (region != 0) raise(g_nodes[region].members, static_cast<int>(size));
  if (measures(parallel)) task->value |= kMeasures;
}

// An explicit task's data is its node. Tasks that tasks create are counted where their region is: chains of creators
// have no end.
void on_task_create(ompt_data_t*, const ompt_frame_t*, ompt_data_t* task, int flags, int, const void* caller) {
  task->value = 0;
  if (t_record == nullptr || (flags & ompt_task_explicit) == 0) return;
  if (const Entry* entry = t_record->count(t_record->region(), Kind::task, caller)) task->value = entry->node;
}

void begin_task(const ompt_data_t* task) {
  const auto node = static_cast<ConstructId>(task->value);
  t_record->push(node != 0 ? node : t_record->node(), State::work);
  if (node == 0) return;
  const ConstructNode& site = g_nodes[node];
  if (Entry* entry = t_record->entry_of(site.parent, site.kind, site.caller)) t_record->begin_piece(entry);
}

void on_task_schedule(ompt_data_t*, ompt_task_status_t status, ompt_data_t* next) {
  if (t_record == nullptr) return;
  switch (status) {
    case ompt_task_yield:
    case ompt_task_switch: return begin_task(next);
    case ompt_task_complete:
    case ompt_task_cancel:
    case ompt_task_detach: return t_record->pop();
    default: return;
  }
}

struct KindOfWork {
  Kind kind;
  Schedule schedule;
};

// What there is to know of an event, by its number, of which OMPT has no more: made of the table when this is compiled.
constexpr auto kWorks = [] {
  std::array<KindOfWork, ompt_work_loop_other + 1> kinds{};
  kinds.fill({Kind::loop, Schedule::unknown});
  for (const EventRow& row : kEvents) {
    if (row.category == Category::work) kinds[static_cast<size_t>(row.number)] = {kind_of(row.event), row.schedule};
  }
  return kinds;
}();

constexpr auto kWaits = [] {
  std::array<Event, ompt_sync_region_barrier_teams + 1> waits{};
  waits.fill(Event::barrier);
  for (const EventRow& row : kEvents) {
    if (row.category == Category::wait && row.number < kMutexes) waits[static_cast<size_t>(row.number)] = row.event;
  }
  return waits;
}();

// Where the wait is shown: behind a loop it belongs to that loop.
ConstructId node_of(Event wait, const void* caller) noexcept {
  switch (wait) {
    case Event::implicit_barrier: {
      const ConstructId last = t_record->last_construct();
      return last != 0 ? last : t_record->node();
    }
    case Event::tasks: return t_record->node();
    default: {
      // Called as the last thing of a region's function, which has gone then: the compiler makes a jump of it.
      if (g_runtime.has(caller)) return t_record->node();
      const Entry* entry = t_record->is_primary() ? t_record->count(Kind::barrier, caller)
                                                  : t_record->entry_of(t_record->node(), Kind::barrier, caller);
      return entry != nullptr ? entry->node : t_record->node();
    }
  }
}

void on_sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*,
                         const void* caller) {
  if (t_record == nullptr) return;
  const Event wait = kWaits[kind];
  if (endpoint == ompt_scope_end) {
    t_record->pop();
    if (state_of(wait) == State::wait_barrier) t_record->set_last_construct(0);
    return;
  }
  t_record->push(node_of(wait, caller), state_of(wait));
}

void leave_construct() noexcept {
  const ConstructId node = t_record->node();
  t_record->pop();
  t_record->set_last_construct(node);
}

void on_work(ompt_work_t work, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*, uint64_t count,
             const void* caller) {
  if (t_record == nullptr || work == ompt_work_scope) return;
  if (work == ompt_work_single_other) {
    const Entry* entry = t_record->entry_of(t_record->node(), Kind::single, caller);
    if (entry != nullptr && endpoint == ompt_scope_end) t_record->set_last_construct(entry->node);
    return;
  }
  if (endpoint == ompt_scope_end) return leave_construct();
  const auto [kind, schedule] = kWorks[work];
  Entry* entry = t_record->push(kind, caller);
  if (entry == nullptr) return;
  g_nodes[entry->node].schedule.store(schedule, std::memory_order_relaxed);
  // One member counts the construct; of a single and a taskloop, the one that executes it.
  if (kind != Kind::single && kind != Kind::taskloop && !t_record->is_primary()) return;
  entry->count.add(1);
  if (kind == Kind::loop) entry->iterations.add(count);
}

void on_masked(ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*, const void* caller) {
  if (t_record == nullptr) return;
  if (endpoint == ompt_scope_end) return t_record->pop();
  if (Entry* entry = t_record->push(Kind::masked, caller)) entry->count.add(1);
}

// Of the construct that the caller is in; null: there is none.
Entry* current_entry() noexcept {
  if (t_record == nullptr) return nullptr;
  const ConstructNode& site = g_nodes[t_record->node()];
  return t_record->entry_of(site.parent, site.kind, site.caller);
}

// A loop's or sections'. Where there are too many places, the one around it stands for it, and is something else.
bool has_chunks(const Entry* entry) noexcept {
  return entry != nullptr && (entry->kind == Kind::loop || entry->kind == Kind::sections);
}

void on_dispatch(ompt_data_t*, ompt_data_t*, ompt_dispatch_t, ompt_data_t) {
  Entry* entry = current_entry();
  if (entry == nullptr) return;
  entry->pieces.add(1);
  // That of a taskloop is a task, and its clock runs.
  if (has_chunks(entry)) t_record->begin_chunk(entry);
}

// What is not told is counted here; what of its time was work, the lengths of those that are told say later.
uint32_t on_chunks_unwatched() {
  Entry* entry = current_entry();
  return has_chunks(entry) ? t_record->leave_out(entry) : 0;
}

void on_chunks_left(uint32_t chunks) {
  Entry* entry = current_entry();
  if (!has_chunks(entry)) return;
  entry->pieces.take_back(chunks);
  entry->unwatched.take_back(chunks);
}

bool waits(ompt_mutex_t kind) noexcept { return kind != ompt_mutex_test_lock && kind != ompt_mutex_test_nest_lock; }

// What is entered by it is structured, so that it becomes a frame; locks may be given back in any order.
bool is_structured(ompt_mutex_t kind) noexcept { return kind == ompt_mutex_critical || kind == ompt_mutex_ordered; }

Kind kind_of(ompt_mutex_t mutex) noexcept {
  return mutex == ompt_mutex_critical ? Kind::critical : mutex == ompt_mutex_ordered ? Kind::ordered : Kind::lock;
}

void on_mutex_acquire(ompt_mutex_t kind, unsigned, unsigned, ompt_wait_id_t, const void* caller) {
  if (t_record == nullptr || !waits(kind)) return;
  const Entry* entry = t_record->count(kind_of(kind), caller);
  t_record->push(entry != nullptr ? entry->node : t_record->node(), State::wait_lock);
}

void on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t, const void*) {
  if (t_record == nullptr || !waits(kind)) return;
  if (is_structured(kind)) {
    t_record->set_state(State::runtime);  // until the call returns
  } else {
    t_record->pop();
  }
}

void on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t, const void*) {
  if (t_record != nullptr && is_structured(kind)) t_record->pop();
}

// A nestable lock that its owner takes again.
void on_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t, const void*) {
  if (t_record != nullptr && endpoint == ompt_scope_begin) t_record->pop();
}

// A loop by weftcc: which pieces moved.
void on_loop(ompt_data_t* parallel, const weft_loop_totals_t* totals) {
  if (t_record == nullptr || parallel->value == 0) return;
  const ConstructNode& site = g_nodes[static_cast<ConstructId>(parallel->value)];
  Entry* entry = t_record->entry_of(site.parent, site.kind, site.caller);
  if (entry == nullptr) return;
  entry->iterations.add(totals->iterations);
  entry->stolen.add(totals->ranges_of_others);
}

// The call's data are its node. A context that helps may be one that no event has told of.
void on_library(weft_library_t what, int begins, const void* caller, int jobs, uint64_t* data) {
  if (what == weft_library_help && t_record == nullptr && begins != 0) {
    begin_record(false);
    t_lent = t_record != nullptr;
  }
  if (t_record == nullptr) return;
  if (begins == 0) {
    t_record->pop();
    if (t_lent && what == weft_library_help) end_record();
    t_lent = t_record != nullptr && t_lent;
    return;
  }
  if (what == weft_library_help) {
    t_record->continue_on(g_carrier());
    return t_record->push(static_cast<ConstructId>(*data), State::work);
  }
  // Without data nobody is told that helps.
  if (!is_recording()) return t_record->push(t_record->node(), State::unseen);
  Entry* entry = t_record->push(Kind::call, caller);
  if (entry == nullptr) return;
  entry->count.add(1);
  raise(g_nodes[entry->node].members, jobs);
  t_record->set_state(State::work);
  t_record->begin_piece(entry);
  *data = entry->node;
}

}  // namespace

int cpus() noexcept { return g_cpus; }

// A chunk that does nothing, told by the same calls: the shortest one on the average of some.
void measure_chunk() noexcept {
  constexpr int kTries = 32;
  constexpr int kChunks = 16;
  void (*volatile call)(weft_call_t) = on_call;
  t_record = new (std::nothrow) ContextRecord;
  if (t_record == nullptr) return;
  t_record->begin(false);
  int64_t best = INT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    Entry chunks;
    t_record->push(0, State::work);
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      call(weft_call_enter);
      t_record->begin_chunk(&chunks);
      call(weft_call_leave);
    }
    t_record->pop();
    best = std::min(best, static_cast<int64_t>(chunks.timed_ticks.get() / chunks.timed.get()));
  }
  delete std::exchange(t_record, nullptr);
  g_chunk_ticks = best;
}

void count_sampler(bool runs) noexcept { g_count_threads(runs ? 1 : 0); }

void prepare_events(const RuntimeCalls& runtime) noexcept {
  g_carrier = runtime.carrier;
  g_count_threads = runtime.count_threads;
  g_cpus = runtime.cpus;
  g_runtime = code_around(reinterpret_cast<const void*>(runtime.carrier));
}

constinit const Events kProfileEvents = {
    .thread_begin = on_thread_begin,
    .thread_end = on_thread_end,
    .parallel_begin = on_parallel_begin,
    .parallel_end = on_parallel_end,
    .implicit_task = on_implicit_task,
    .task_create = on_task_create,
    .task_schedule = on_task_schedule,
    .sync_region_wait = on_sync_region_wait,
    .work = on_work,
    .dispatch = on_dispatch,
    .masked = on_masked,
    .mutex_acquire = on_mutex_acquire,
    .mutex_acquired = on_mutex_acquired,
    .mutex_released = on_mutex_released,
    .nest_lock = on_nest_lock,
    .loop = on_loop,
    .call = on_call,
    .region_of_library = on_library,
    .change_of_carrier = on_switch,
    .region_wanted = on_region_wanted,
    .region_after = on_region_after,
    .chunks_unwatched = on_chunks_unwatched,
    .chunks_left = on_chunks_left,
};

}  // namespace weft::observe
