// SPDX-License-Identifier: Apache-2.0
#include "profile/events.h"

#include <algorithm>
#include <new>
#include <utility>

#include "profile/code_range.h"
#include "profile/scale.h"
#include "profile/slot.h"
#include "weft/weft-tools.h"

namespace weft::profile {

namespace {

weft_get_carrier_t g_carrier = nullptr;
weft_set_tool_threads_t g_count_threads = nullptr;
int g_cpus = 1;
CodeRange g_runtime;

thread_local bool t_lent = false;  // the slot is the caller's for as long as it helps a call of a library

template <class Number>
void raise(std::atomic<Number>& most, Number value) noexcept {
  Number seen = most.load(std::memory_order_relaxed);
  while (seen < value && !most.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

void on_thread_begin(ompt_thread_t kind, ompt_data_t*) { begin_slot(kind == ompt_thread_initial); }
void on_thread_end(ompt_data_t*) { end_slot(); }

void on_call(weft_call_t what) {
  if (t_slot == nullptr) return;
  if (what == weft_call_enter) {
    t_slot->enter_runtime();
  } else {
    t_slot->leave_runtime();
  }
}

void on_switch(weft_switch_t what, int carrier) {
  if (t_slot == nullptr) return;
  if (what == weft_switch_leave) {
    t_slot->leave_carrier();
  } else {
    t_slot->continue_on(carrier);
  }
}

// What is not told is counted here, and its time is spread later by what others of the same site were told to do.
// While nothing is recorded the region is a frame for on_region_after() to leave, and nothing else.
int on_region_wanted(const void* caller, weft_region_skip_t** skip) {
  *skip = nullptr;
  if (!is_recording()) {
    if (t_slot != nullptr) t_slot->push(t_slot->node(), State::unseen);
    return 0;
  }
  if (t_slot == nullptr) return 1;
  if (!t_lent) *skip = t_slot->skip();
  Entry* entry = t_slot->entry_of(t_slot->node(), Kind::region, caller);
  if (entry == nullptr || entry->is_told()) return 1;
  entry->count.add(1);
  entry->untold.add(1);
  t_slot->push(entry->node, State::untold);
  t_slot->begin_piece(entry);
  return 0;
}

void on_region_after() {
  if (t_slot != nullptr) t_slot->end_untold_region();
}

// A region's data is its node, and whether its members measure their work.
constexpr uint64_t kSampled = uint64_t{1} << 32;

void on_parallel_begin(ompt_data_t*, const ompt_frame_t*, ompt_data_t* parallel, unsigned requested, int,
                       const void* caller) {
  parallel->value = 0;
  if (t_slot == nullptr) return;
  Entry* entry = t_slot->push(Kind::region, caller);
  if (entry == nullptr) return;
  entry->count.add(1);
  parallel->value = entry->node;
  if (entry->has_untold()) {
    entry->sampled.add(1);
    parallel->value |= kSampled;
  }
  raise(g_nodes[entry->node].requested, static_cast<int>(requested));
  // From here on the caller is on its way into the region, as its primary.
  t_slot->set_state(State::runtime);
  t_slot->begin_piece(entry);
}

void on_parallel_end(ompt_data_t*, ompt_data_t*, int, const void* caller) {
  if (t_slot == nullptr) return;
  t_slot->pop();
  if (t_slot->is_serial()) {
    t_slot->set_serial(caller);
    t_slot->set_state(State::runtime);  // until the call returns
  }
}

// A member remembers in its task's data that it has a frame, and that it measures its work.
constexpr uint64_t kHasFrame = 1;
constexpr uint64_t kMeasures = 2;

bool measures(const ompt_data_t* parallel) noexcept {
  if (parallel == nullptr || (parallel->value & kSampled) == 0) return false;
  const Node& site = g_nodes[static_cast<NodeId>(parallel->value)];
  Entry* entry = t_slot->entry_of(site.parent, site.kind, site.caller);
  return entry != nullptr && t_slot->begin_work(entry);
}

void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task, unsigned size,
                      unsigned number, int flags) {
  if (t_slot == nullptr) return;
  if (endpoint == ompt_scope_end) {
    if ((task->value & kMeasures) != 0) t_slot->end_work();
    if ((task->value & kHasFrame) != 0) t_slot->pop();
    return;
  }
  task->value = 0;
  const bool is_initial = (flags & ompt_task_initial) != 0;
  const NodeId region = parallel != nullptr ? static_cast<NodeId>(parallel->value) : 0;
  // The initial task of a thread of the program's has the outermost frame already.
  if (is_initial && region == 0) return;
  task->value = kHasFrame;
  t_slot->continue_on(g_carrier());
  t_slot->push(region, State::work);
  t_slot->set_primary(number == 0);
  if (region != 0) raise(g_nodes[region].members, static_cast<int>(size));
  if (measures(parallel)) task->value |= kMeasures;
}

// An explicit task's data is its node. Tasks that tasks create are counted where their region is: chains of creators
// have no end.
void on_task_create(ompt_data_t*, const ompt_frame_t*, ompt_data_t* task, int flags, int, const void* caller) {
  task->value = 0;
  if (t_slot == nullptr || (flags & ompt_task_explicit) == 0) return;
  if (const Entry* entry = t_slot->count(t_slot->region(), Kind::task, caller)) task->value = entry->node;
}

void begin_task(const ompt_data_t* task) {
  const auto node = static_cast<NodeId>(task->value);
  t_slot->push(node != 0 ? node : t_slot->node(), State::work);
  if (node == 0) return;
  const Node& site = g_nodes[node];
  if (Entry* entry = t_slot->entry_of(site.parent, site.kind, site.caller)) t_slot->begin_piece(entry);
}

void on_task_schedule(ompt_data_t*, ompt_task_status_t status, ompt_data_t* next) {
  if (t_slot == nullptr) return;
  switch (status) {
    case ompt_task_yield:
    case ompt_task_switch: return begin_task(next);
    case ompt_task_complete:
    case ompt_task_cancel:
    case ompt_task_detach: return t_slot->pop();
    default: return;
  }
}

State state_of(ompt_sync_region_t kind) noexcept {
  return kind == ompt_sync_region_taskwait || kind == ompt_sync_region_taskgroup ? State::wait_tasks
                                                                                 : State::wait_barrier;
}

// Where the wait is shown: behind a loop it belongs to that loop.
NodeId node_of(ompt_sync_region_t kind, const void* caller) noexcept {
  switch (kind) {
    case ompt_sync_region_barrier_implicit_workshare:
    case ompt_sync_region_barrier_implicit_parallel:
    case ompt_sync_region_barrier_implementation: {
      const NodeId last = t_slot->last_construct();
      return last != 0 ? last : t_slot->node();
    }
    case ompt_sync_region_taskwait:
    case ompt_sync_region_taskgroup: return t_slot->node();
    default: {
      // Called as the last thing of a region's function, which has gone then: the compiler makes a jump of it.
      if (g_runtime.has(caller)) return t_slot->node();
      const Entry* entry = t_slot->is_primary() ? t_slot->count(Kind::barrier, caller)
                                                : t_slot->entry_of(t_slot->node(), Kind::barrier, caller);
      return entry != nullptr ? entry->node : t_slot->node();
    }
  }
}

void on_sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*,
                         const void* caller) {
  if (t_slot == nullptr) return;
  if (endpoint == ompt_scope_end) {
    t_slot->pop();
    if (state_of(kind) == State::wait_barrier) t_slot->set_last_construct(0);
    return;
  }
  t_slot->push(node_of(kind, caller), state_of(kind));
}

struct KindOfWork {
  Kind kind;
  Schedule schedule;
};

KindOfWork kind_of(ompt_work_t work) noexcept {
  switch (work) {
    case ompt_work_sections: return {Kind::sections, Schedule::unknown};
    case ompt_work_single_executor: return {Kind::single, Schedule::unknown};
    case ompt_work_taskloop: return {Kind::taskloop, Schedule::unknown};
    case ompt_work_loop_static: return {Kind::loop, Schedule::fixed};
    case ompt_work_loop_dynamic: return {Kind::loop, Schedule::dynamic};
    case ompt_work_loop_guided: return {Kind::loop, Schedule::guided};
    default: return {Kind::loop, Schedule::unknown};
  }
}

void leave_construct() noexcept {
  const NodeId node = t_slot->node();
  t_slot->pop();
  t_slot->set_last_construct(node);
}

void on_work(ompt_work_t work, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*, uint64_t count,
             const void* caller) {
  if (t_slot == nullptr || work == ompt_work_scope) return;
  if (work == ompt_work_single_other) {
    const Entry* entry = t_slot->entry_of(t_slot->node(), Kind::single, caller);
    if (entry != nullptr && endpoint == ompt_scope_end) t_slot->set_last_construct(entry->node);
    return;
  }
  if (endpoint == ompt_scope_end) return leave_construct();
  const auto [kind, schedule] = kind_of(work);
  Entry* entry = t_slot->push(kind, caller);
  if (entry == nullptr) return;
  g_nodes[entry->node].schedule.store(schedule, std::memory_order_relaxed);
  // One member counts the construct; of a single and a taskloop, the one who executes it.
  if (kind != Kind::single && kind != Kind::taskloop && !t_slot->is_primary()) return;
  entry->count.add(1);
  if (kind == Kind::loop) entry->iterations.add(count);
}

void on_masked(ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*, const void* caller) {
  if (t_slot == nullptr) return;
  if (endpoint == ompt_scope_end) return t_slot->pop();
  if (Entry* entry = t_slot->push(Kind::masked, caller)) entry->count.add(1);
}

// Of the construct that the caller is in; null: there is none.
Entry* current_entry() noexcept {
  if (t_slot == nullptr) return nullptr;
  const Node& site = g_nodes[t_slot->node()];
  return t_slot->entry_of(site.parent, site.kind, site.caller);
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
  if (has_chunks(entry)) t_slot->begin_chunk(entry);
}

// What is not told is counted here; what of its time was work, the lengths of those that are told say later.
uint32_t on_chunks_untold() {
  Entry* entry = current_entry();
  return has_chunks(entry) ? t_slot->leave_out(entry) : 0;
}

void on_chunks_left(uint32_t chunks) {
  Entry* entry = current_entry();
  if (!has_chunks(entry)) return;
  entry->pieces.take_back(chunks);
  entry->untold.take_back(chunks);
}

bool waits(ompt_mutex_t kind) noexcept { return kind != ompt_mutex_test_lock && kind != ompt_mutex_test_nest_lock; }

// What is entered by it is structured, so that it becomes a frame; locks may be given back in any order.
bool is_structured(ompt_mutex_t kind) noexcept { return kind == ompt_mutex_critical || kind == ompt_mutex_ordered; }

Kind kind_of(ompt_mutex_t mutex) noexcept {
  return mutex == ompt_mutex_critical ? Kind::critical : mutex == ompt_mutex_ordered ? Kind::ordered : Kind::lock;
}

void on_mutex_acquire(ompt_mutex_t kind, unsigned, unsigned, ompt_wait_id_t, const void* caller) {
  if (t_slot == nullptr || !waits(kind)) return;
  const Entry* entry = t_slot->count(kind_of(kind), caller);
  t_slot->push(entry != nullptr ? entry->node : t_slot->node(), State::wait_lock);
}

void on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t, const void*) {
  if (t_slot == nullptr || !waits(kind)) return;
  if (is_structured(kind)) {
    t_slot->set_state(State::runtime);  // until the call returns
  } else {
    t_slot->pop();
  }
}

void on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t, const void*) {
  if (t_slot != nullptr && is_structured(kind)) t_slot->pop();
}

// A nestable lock that its owner takes again.
void on_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t, const void*) {
  if (t_slot != nullptr && endpoint == ompt_scope_begin) t_slot->pop();
}

// A loop by weftcc: which pieces moved.
void on_loop(ompt_data_t* parallel, const weft_loop_totals_t* totals) {
  if (t_slot == nullptr || parallel->value == 0) return;
  const Node& site = g_nodes[static_cast<NodeId>(parallel->value)];
  Entry* entry = t_slot->entry_of(site.parent, site.kind, site.caller);
  if (entry == nullptr) return;
  entry->iterations.add(totals->iterations);
  entry->stolen.add(totals->ranges_of_others);
}

// The call's data are its node. Who helps may be a context that nobody has told of.
void on_library(weft_library_t what, int begins, const void* caller, int jobs, uint64_t* data) {
  if (what == weft_library_help && t_slot == nullptr && begins != 0) {
    begin_slot(false);
    t_lent = t_slot != nullptr;
  }
  if (t_slot == nullptr) return;
  if (begins == 0) {
    t_slot->pop();
    if (t_lent && what == weft_library_help) end_slot();
    t_lent = t_slot != nullptr && t_lent;
    return;
  }
  if (what == weft_library_help) {
    t_slot->continue_on(g_carrier());
    return t_slot->push(static_cast<NodeId>(*data), State::work);
  }
  // Without data nobody is told that helps.
  if (!is_recording()) return t_slot->push(t_slot->node(), State::unseen);
  Entry* entry = t_slot->push(Kind::call, caller);
  if (entry == nullptr) return;
  entry->count.add(1);
  raise(g_nodes[entry->node].members, jobs);
  t_slot->set_state(State::work);
  t_slot->begin_piece(entry);
  *data = entry->node;
}

}  // namespace

int cpus() noexcept { return g_cpus; }

// A chunk that does nothing, told by the same calls: the shortest one on the average of some.
void measure_chunk() noexcept {
  constexpr int kTries = 32;
  constexpr int kChunks = 16;
  void (*volatile call)(weft_call_t) = on_call;
  t_slot = new (std::nothrow) Slot;
  if (t_slot == nullptr) return;
  t_slot->begin(false);
  int64_t best = INT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    Entry chunks;
    t_slot->push(0, State::work);
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      call(weft_call_enter);
      t_slot->begin_chunk(&chunks);
      call(weft_call_leave);
    }
    t_slot->pop();
    best = std::min(best, static_cast<int64_t>(chunks.timed_ticks.get() / chunks.timed.get()));
  }
  delete std::exchange(t_slot, nullptr);
  g_chunk_ticks = best;
}

void count_sampler(bool runs) noexcept { g_count_threads(runs ? 1 : 0); }

bool listen(ompt_function_lookup_t lookup) noexcept {
  g_carrier = reinterpret_cast<weft_get_carrier_t>(lookup("weft_get_carrier"));
  const auto watch_switches = reinterpret_cast<weft_set_switch_callback_t>(lookup("weft_set_switch_callback"));
  const auto watch_loops = reinterpret_cast<weft_set_loop_callback_t>(lookup("weft_set_loop_callback"));
  const auto watch_calls = reinterpret_cast<weft_set_call_callback_t>(lookup("weft_set_call_callback"));
  const auto watch_libraries = reinterpret_cast<weft_set_library_callback_t>(lookup("weft_set_library_callback"));
  g_count_threads = reinterpret_cast<weft_set_tool_threads_t>(lookup("weft_set_tool_threads"));
  const auto filter_chunks = reinterpret_cast<weft_set_chunk_filter_t>(lookup("weft_set_chunk_filter"));
  const auto filter = reinterpret_cast<weft_set_region_filter_t>(lookup("weft_set_region_filter"));
  const auto set = reinterpret_cast<ompt_set_callback_t>(lookup("ompt_set_callback"));
  const auto count_cpus = reinterpret_cast<ompt_get_num_procs_t>(lookup("ompt_get_num_procs"));
  if (g_carrier == nullptr || watch_switches == nullptr || watch_loops == nullptr || watch_calls == nullptr ||
      filter == nullptr || filter_chunks == nullptr || g_count_threads == nullptr || watch_libraries == nullptr ||
      set == nullptr || count_cpus == nullptr) {
    return false;
  }
  g_cpus = std::max(count_cpus(), 1);
  g_runtime = code_around(reinterpret_cast<const void*>(g_carrier));
  const struct {
    ompt_callbacks_t event;
    ompt_callback_t function;
  } callbacks[] = {
      {ompt_callback_thread_begin, reinterpret_cast<ompt_callback_t>(on_thread_begin)},
      {ompt_callback_thread_end, reinterpret_cast<ompt_callback_t>(on_thread_end)},
      {ompt_callback_parallel_begin, reinterpret_cast<ompt_callback_t>(on_parallel_begin)},
      {ompt_callback_parallel_end, reinterpret_cast<ompt_callback_t>(on_parallel_end)},
      {ompt_callback_implicit_task, reinterpret_cast<ompt_callback_t>(on_implicit_task)},
      {ompt_callback_task_create, reinterpret_cast<ompt_callback_t>(on_task_create)},
      {ompt_callback_task_schedule, reinterpret_cast<ompt_callback_t>(on_task_schedule)},
      {ompt_callback_sync_region_wait, reinterpret_cast<ompt_callback_t>(on_sync_region_wait)},
      {ompt_callback_work, reinterpret_cast<ompt_callback_t>(on_work)},
      {ompt_callback_dispatch, reinterpret_cast<ompt_callback_t>(on_dispatch)},
      {ompt_callback_masked, reinterpret_cast<ompt_callback_t>(on_masked)},
      {ompt_callback_mutex_acquire, reinterpret_cast<ompt_callback_t>(on_mutex_acquire)},
      {ompt_callback_mutex_acquired, reinterpret_cast<ompt_callback_t>(on_mutex_acquired)},
      {ompt_callback_mutex_released, reinterpret_cast<ompt_callback_t>(on_mutex_released)},
      {ompt_callback_nest_lock, reinterpret_cast<ompt_callback_t>(on_nest_lock)},
  };
  for (const auto& [event, function] : callbacks) set(event, function);
  watch_loops(on_loop);
  watch_calls(on_call);
  watch_libraries(on_library);
  filter(on_region_wanted, on_region_after);
  filter_chunks(on_chunks_untold, on_chunks_left);
  watch_switches(on_switch);
  return true;
}

}  // namespace weft::profile
