// SPDX-License-Identifier: Apache-2.0
#include "observe/record/sink/runtime_calls.h"

#include <algorithm>

#include "observe/record/sink/sink.h"

namespace weft::observe {

namespace {

template <class Function>
void find(ompt_function_lookup_t lookup, const char* name, Function& function) noexcept {
  function = reinterpret_cast<Function>(lookup(name));
}

}  // namespace

std::optional<RuntimeCalls> runtime_calls(ompt_function_lookup_t lookup) noexcept {
  RuntimeCalls calls{};
  ompt_get_num_procs_t count_cpus = nullptr;
  find(lookup, "weft_get_carrier", calls.carrier);
  find(lookup, "weft_set_tool_threads", calls.count_threads);
  find(lookup, "ompt_get_parallel_info", calls.parallel_info);
  find(lookup, "ompt_get_num_procs", count_cpus);
  if (calls.carrier == nullptr || calls.count_threads == nullptr || calls.parallel_info == nullptr ||
      count_cpus == nullptr) {
    return std::nullopt;
  }
  calls.cpus = std::max(count_cpus(), 1);
  return calls;
}

bool listen(ompt_function_lookup_t lookup, const Events& events) noexcept {
  ompt_set_callback_t set = nullptr;
  weft_set_loop_callback_t watch_loops = nullptr;
  weft_set_call_callback_t watch_calls = nullptr;
  weft_set_library_callback_t watch_libraries = nullptr;
  weft_set_region_filter_t filter_regions = nullptr;
  weft_set_chunk_filter_t filter_chunks = nullptr;
  weft_set_switch_callback_t watch_switches = nullptr;
  find(lookup, "ompt_set_callback", set);
  find(lookup, "weft_set_loop_callback", watch_loops);
  find(lookup, "weft_set_call_callback", watch_calls);
  find(lookup, "weft_set_library_callback", watch_libraries);
  find(lookup, "weft_set_region_filter", filter_regions);
  find(lookup, "weft_set_chunk_filter", filter_chunks);
  find(lookup, "weft_set_switch_callback", watch_switches);
  if (set == nullptr || watch_loops == nullptr || watch_calls == nullptr || watch_libraries == nullptr ||
      filter_regions == nullptr || filter_chunks == nullptr || watch_switches == nullptr) {
    return false;
  }
  const struct {
    ompt_callbacks_t event;
    ompt_callback_t function;
  } callbacks[] = {
      {ompt_callback_thread_begin, reinterpret_cast<ompt_callback_t>(events.thread_begin)},
      {ompt_callback_thread_end, reinterpret_cast<ompt_callback_t>(events.thread_end)},
      {ompt_callback_parallel_begin, reinterpret_cast<ompt_callback_t>(events.parallel_begin)},
      {ompt_callback_parallel_end, reinterpret_cast<ompt_callback_t>(events.parallel_end)},
      {ompt_callback_implicit_task, reinterpret_cast<ompt_callback_t>(events.implicit_task)},
      {ompt_callback_task_create, reinterpret_cast<ompt_callback_t>(events.task_create)},
      {ompt_callback_task_schedule, reinterpret_cast<ompt_callback_t>(events.task_schedule)},
      {ompt_callback_sync_region_wait, reinterpret_cast<ompt_callback_t>(events.sync_region_wait)},
      {ompt_callback_work, reinterpret_cast<ompt_callback_t>(events.work)},
      {ompt_callback_dispatch, reinterpret_cast<ompt_callback_t>(events.dispatch)},
      {ompt_callback_masked, reinterpret_cast<ompt_callback_t>(events.masked)},
      {ompt_callback_mutex_acquire, reinterpret_cast<ompt_callback_t>(events.mutex_acquire)},
      {ompt_callback_mutex_acquired, reinterpret_cast<ompt_callback_t>(events.mutex_acquired)},
      {ompt_callback_mutex_released, reinterpret_cast<ompt_callback_t>(events.mutex_released)},
      {ompt_callback_nest_lock, reinterpret_cast<ompt_callback_t>(events.nest_lock)},
  };
  for (const auto& [event, function] : callbacks) {
    if (function != nullptr) set(event, function);
  }
  if (events.loop != nullptr) watch_loops(events.loop);
  if (events.call != nullptr) watch_calls(events.call);
  if (events.region_of_library != nullptr) watch_libraries(events.region_of_library);
  if (events.region_wanted != nullptr) filter_regions(events.region_wanted, events.region_after);
  if (events.chunks_unwatched != nullptr) filter_chunks(events.chunks_unwatched, events.chunks_left);
  if (events.change_of_carrier != nullptr) watch_switches(events.change_of_carrier);
  return true;
}

}  // namespace weft::observe
