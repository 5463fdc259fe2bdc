// SPDX-License-Identifier: Apache-2.0
// What a tool can ask (OpenMP 5.2, section 19.6): the functions that its lookup finds.
#include <cstring>

#include <sched.h>

#include "core/api/budget.h"
#include "core/api/fork.h"
#include "core/api/thread.h"
#include "openmp/affinity/affinity.h"
#include "openmp/affinity/team_affinity.h"
#include "openmp/ompt/callbacks.h"
#include "openmp/settings/icv.h"
#include "weft/weft-tools.h"

namespace weft::openmp::ompt {

namespace {

struct Named {
  int value;
  const char* name;
};

#define WEFT_NAMED(value) {value, #value}
constexpr Named kStates[] = {
    WEFT_NAMED(ompt_state_work_serial),
    WEFT_NAMED(ompt_state_work_parallel),
    WEFT_NAMED(ompt_state_work_reduction),
    WEFT_NAMED(ompt_state_wait_barrier_implicit_parallel),
    WEFT_NAMED(ompt_state_wait_barrier_implicit_workshare),
    WEFT_NAMED(ompt_state_wait_barrier_explicit),
    WEFT_NAMED(ompt_state_wait_barrier_implementation),
    WEFT_NAMED(ompt_state_wait_taskwait),
    WEFT_NAMED(ompt_state_wait_taskgroup),
    WEFT_NAMED(ompt_state_wait_lock),
    WEFT_NAMED(ompt_state_wait_critical),
    WEFT_NAMED(ompt_state_wait_atomic),
    WEFT_NAMED(ompt_state_wait_ordered),
    WEFT_NAMED(ompt_state_idle),
};
constexpr Named kMutexes[] = {
    WEFT_NAMED(ompt_mutex_impl_none),
    {kMutexImplementation, "weft_mutex_impl_spin_then_suspend"},
};
#undef WEFT_NAMED

// The one after `current`; with a value that is not in the list, the first.
template <size_t N>
int enumerate(const Named (&list)[N], int current, int first, int* next, const char** name) noexcept {
  size_t at = 0;
  if (current != first) {
    while (at < N && list[at].value != current) ++at;
    if (++at >= N) return 0;
  }
  *next = list[at].value;
  *name = list[at].name;
  return 1;
}

int enumerate_states(int current, int* next, const char** name) {
  return enumerate(kStates, current, ompt_state_undefined, next, name);
}

int enumerate_mutex_impls(int current, int* next, const char** name) {
  // The walk begins with none, which is the first of the list and is not told.
  size_t at = 0;
  while (at < std::size(kMutexes) && kMutexes[at].value != current) ++at;
  if (++at >= std::size(kMutexes)) return 0;
  *next = kMutexes[at].value;
  *name = kMutexes[at].name;
  return 1;
}

// How far a registered callback hears of its event. docs/explanation/ompt.md says what the compilers keep from us.
ompt_set_result_t support_of(int event) noexcept {
  switch (event) {
    case ompt_callback_thread_begin:
    case ompt_callback_thread_end:
    case ompt_callback_parallel_begin:
    case ompt_callback_parallel_end:
    case ompt_callback_task_create:
    case ompt_callback_task_schedule:
    case ompt_callback_implicit_task:
    case ompt_callback_control_tool:
    case ompt_callback_sync_region_wait:
    case ompt_callback_sync_region:
    case ompt_callback_mutex_released:
    case ompt_callback_dependences:
    case ompt_callback_lock_init:
    case ompt_callback_lock_destroy:
    case ompt_callback_mutex_acquire:
    case ompt_callback_mutex_acquired:
    case ompt_callback_nest_lock:
    case ompt_callback_cancel:
    case ompt_callback_error: return ompt_set_always;
    case ompt_callback_work:
    case ompt_callback_masked:
    case ompt_callback_reduction: return ompt_set_sometimes_paired;
    case ompt_callback_task_dependence:
    case ompt_callback_flush:
    case ompt_callback_dispatch: return ompt_set_sometimes;
    default: return event > 0 && event < kEventEnd ? ompt_set_never : ompt_set_error;
  }
}

ompt_set_result_t set_callback(ompt_callbacks_t event, ompt_callback_t callback) {
  const ompt_set_result_t support = support_of(event);
  if (support > ompt_set_impossible) g_callbacks[event].store(callback, std::memory_order_release);
  return support;
}

int get_callback(ompt_callbacks_t event, ompt_callback_t* callback) {
  if (support_of(event) <= ompt_set_impossible) return 0;
  const ompt_callback_t registered = g_callbacks[event].load(std::memory_order_acquire);
  if (registered == nullptr) return 0;
  *callback = registered;
  return 1;
}

ompt_data_t* get_thread_data() { return t_thread.begun ? &t_thread.data : nullptr; }

int get_state(ompt_wait_id_t* awaited) {
  if (!t_thread.begun) return ompt_state_undefined;
  if (awaited != nullptr) *awaited = t_thread.awaited;
  return t_thread.state;
}

// The member that opened the region of `member`, as the program sees it; null: there is none.
Member* encountering(const Member* member) noexcept {
  Member* outer = member->team->parent;
  while (outer != nullptr && is_hidden(outer->team)) outer = outer->team->parent;
  return outer;
}

constexpr int kNoTask = 0;  // the answers of the two that follow
constexpr int kFound = 2;

int get_parallel_info(int level, ompt_data_t** data, int* size) {
  const Member* member = current_member();
  for (; member != nullptr && level > 0; --level) member = encountering(member);
  if (member == nullptr || level < 0) return kNoTask;
  if (data != nullptr) *data = parallel_data(member);
  if (size != nullptr) *size = member->team->size;
  return kFound;
}

int get_task_info(int level, int* flags, ompt_data_t** data, ompt_frame_t** frame, ompt_data_t** parallel,
                  int* number) {
  const Member* member = current_member();
  if (member == nullptr || level < 0) return kNoTask;
  Task* task = member->task;
  for (; level > 0; --level) {
    if (task == nullptr) return kNoTask;
    if (!task->implicit) {
      task = task->parent.load(std::memory_order_relaxed);
      continue;
    }
    member = encountering(member);
    if (member == nullptr) return kNoTask;
    task = member->task;
  }
  if (task == nullptr) return kNoTask;
  if (flags != nullptr) *flags = task->tool.flags & ~(kDetached | kClosed);
  if (data != nullptr) *data = &task->tool.data;
  if (frame != nullptr) *frame = &task->tool.frame;
  if (parallel != nullptr) *parallel = parallel_data(member);
  if (number != nullptr) *number = member->number;
  return kFound;
}

// The data of a task lies behind its record, if it has some and it is known.
int get_task_memory(void** address, size_t* size, int block) {
  const Member* member = current_member();
  if (member == nullptr || block != 0) return 0;
  Task* task = member->task;
  if (task == nullptr || task->implicit || task->big != nullptr) return 0;
  *address = task + 1;
  *size = task->capacity;
  return 0;  // no more blocks
}

int get_num_procs() { return num_procs(); }
// Of a thread that OpenMP does not know there is nothing to say.
int get_proc_id() { return t_thread.begun ? sched_getcpu() : -1; }

// Each list is written as far as there is room; the answer is its length.
template <class Numbers>
int list(const Numbers& numbers, int size, int* to) noexcept {
  int count = 0;
  for (const int number : numbers) {
    if (count < size) to[count] = number;
    ++count;
  }
  return count;
}

int get_num_places() { return affinity().places.size(); }

int get_place_proc_ids(int place, int size, int* ids) {
  if (place < 0 || place >= get_num_places()) return 0;
  return list(each(affinity().places.begin()[place]), size, ids);
}

int get_place_num() {
  const Member* member = current_member();
  return member != nullptr ? thread_place_of(member).place : -1;
}

int get_partition_place_nums(int size, int* numbers) {
  const Member* member = current_member();
  if (member == nullptr) return 0;
  const Partition mine = thread_place_of(member).partition;
  for (int i = 0; i < mine.count && i < size; ++i) numbers[i] = mine.first + i;
  return mine.count;
}

int get_num_devices() { return 0; }
int get_target_info(uint64_t*, ompt_id_t*, ompt_id_t*) { return 0; }

uint64_t get_unique_id() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

int get_carrier() { return core::carrier_number(); }

weft_callback_switch_t g_switch_callback = nullptr;

void set_switch_callback(weft_callback_switch_t callback) {
  g_switch_callback = callback;
  core::set_switch_observer(callback == nullptr ? nullptr : core::SwitchObserver([](bool leaving, int carrier) {
    g_switch_callback(leaving ? weft_switch_leave : weft_switch_continue, carrier);
  }));
}

void set_loop_callback(weft_callback_loop_t callback) { g_loop_callback.store(callback, std::memory_order_release); }

void set_call_callback(weft_callback_call_t callback) { g_call_callback.store(callback, std::memory_order_release); }

void set_tool_threads(int threads) { core::set_other_service_threads(threads); }

void set_library_callback(weft_callback_library_t callback) {
  g_library_callback.store(callback, std::memory_order_release);
}

void set_region_filter(weft_callback_region_wanted_t wanted, weft_callback_region_after_t after) {
  g_region_after.store(after, std::memory_order_release);
  g_region_wanted.store(wanted, std::memory_order_release);
}

void set_chunk_filter(weft_callback_chunks_untold_t unwatched, weft_callback_chunks_left_t left) {
  g_chunks_left.store(left, std::memory_order_release);
  g_chunks_unreported.store(unwatched, std::memory_order_release);
}

struct EntryPoint {
  const char* name;
  ompt_interface_fn_t function;
};

template <class Function>
EntryPoint entry_point(const char* name, Function* function) noexcept {
  return {name, reinterpret_cast<ompt_interface_fn_t>(function)};
}

}  // namespace

ompt_interface_fn_t lookup(const char* name) {
  static const EntryPoint kEntryPoints[] = {
      entry_point("ompt_set_callback", set_callback),
      entry_point("ompt_get_callback", get_callback),
      entry_point("ompt_get_thread_data", get_thread_data),
      entry_point("ompt_get_parallel_info", get_parallel_info),
      entry_point("ompt_get_task_info", get_task_info),
      entry_point("ompt_get_task_memory", get_task_memory),
      entry_point("ompt_get_state", get_state),
      entry_point("ompt_enumerate_states", enumerate_states),
      entry_point("ompt_enumerate_mutex_impls", enumerate_mutex_impls),
      entry_point("ompt_get_unique_id", get_unique_id),
      entry_point("ompt_get_num_procs", get_num_procs),
      entry_point("ompt_get_proc_id", get_proc_id),
      entry_point("ompt_get_num_places", get_num_places),
      entry_point("ompt_get_place_proc_ids", get_place_proc_ids),
      entry_point("ompt_get_place_num", get_place_num),
      entry_point("ompt_get_partition_place_nums", get_partition_place_nums),
      entry_point("ompt_get_num_devices", get_num_devices),
      entry_point("ompt_get_target_info", get_target_info),
      entry_point("ompt_finalize_tool", finalize),
      entry_point("weft_get_carrier", get_carrier),
      entry_point("weft_set_switch_callback", set_switch_callback),
      entry_point("weft_set_loop_callback", set_loop_callback),
      entry_point("weft_set_call_callback", set_call_callback),
      entry_point("weft_set_region_filter", set_region_filter),
      entry_point("weft_set_chunk_filter", set_chunk_filter),
      entry_point("weft_set_tool_threads", set_tool_threads),
      entry_point("weft_set_library_callback", set_library_callback),
  };
  for (const EntryPoint& entry : kEntryPoints) {
    if (std::strcmp(entry.name, name) == 0) return entry.function;
  }
  return nullptr;
}

}  // namespace weft::openmp::ompt
