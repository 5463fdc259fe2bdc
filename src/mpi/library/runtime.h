// SPDX-License-Identifier: Apache-2.0
// weft's runtime, if it is in the process, as weft/task.h describes it: found by name, so that one library serves
// processes with the runtime and without.
#pragma once

#include <atomic>

#include "mpi/library/inside.h"
#include "weft/task.h"

namespace weft::mpi {

struct Runtime {
  decltype(&weft_get_current_blocking_context) context = nullptr;
  decltype(&weft_block_current_task) block = nullptr;
  decltype(&weft_unblock_task) unblock = nullptr;
  decltype(&weft_spin_until) spin_until = nullptr;
  decltype(&weft_yield) yield = nullptr;
  decltype(&weft_register_polling_service) register_service = nullptr;
  decltype(&weft_unregister_polling_service) unregister_service = nullptr;
  decltype(&weft_poll_soon) poll_soon = nullptr;
  decltype(&weft_get_current_event_counter) event_counter = nullptr;
  decltype(&weft_increase_current_task_event_counter) increase = nullptr;
  decltype(&weft_decrease_task_event_counter) decrease = nullptr;
  decltype(&weft_is_in_parallel) is_in_parallel = nullptr;
  decltype(&weft_busy_threads) busy_threads = nullptr;  // null: an older runtime
};

// Null while calls go straight on to MPI: there is no runtime, MPI is not initialized, or not for several threads.
inline std::atomic<const Runtime*> g_runtime{nullptr};
inline thread_local bool t_looked = false;

// Whether the process has the runtime, active or not.
const Runtime* find_runtime() noexcept;

// Looks for the runtime, once a thread: Python may load it after MPI, and then its threads are new ones.
const Runtime* look_again() noexcept;

// Inlined: each call asks this, and a program without tasks asks little else.
// The runtime, for a caller that MPI has not called back; null: its calls go to MPI as they are.
[[gnu::always_inline]] inline const Runtime* runtime_here() noexcept {
  // Acquire pairs with the release of activate(): what the functions use is ready.
  const Runtime* runtime = g_runtime.load(std::memory_order_acquire);
  if (runtime == nullptr && !t_looked) runtime = look_again();
  return t_inside == 0 ? runtime : nullptr;
}

// How many tasks, or events of tasks, wait for messages: handed over to tickets/, and not ended.
inline std::atomic<int> g_tickets_waiting{0};
inline int tickets_waiting() noexcept { return g_tickets_waiting.load(); }

// MPI has been initialized: calls are converted from now on, unless there is an obstacle, which is said.
void activate(const char* obstacle) noexcept;
// Before MPI ends: nothing is converted from now on, and nothing polls.
void deactivate() noexcept;

// Whether others may need the CPU that the caller would keep.
inline bool in_parallel(const Runtime& runtime) noexcept {
  return runtime.is_in_parallel == nullptr || runtime.is_in_parallel() != 0;
}

// The runtime, for a call that is converted where the caller is. A thread alone may as well wait in MPI, unless there
// are messages for others to look for.
[[gnu::always_inline]] inline const Runtime* converting() noexcept {
  const Runtime* runtime = runtime_here();
  return runtime != nullptr && (in_parallel(*runtime) || tickets_waiting() > 0) ? runtime : nullptr;
}

}  // namespace weft::mpi
