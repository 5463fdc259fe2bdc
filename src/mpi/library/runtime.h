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
  decltype(&weft_busy_threads) busy_threads = nullptr;  // null: an older runtime
  // OpenMP's own. Null: the program has no OpenMP, and pauses by task.h alone.
  int (*level)() = nullptr;
};

// Null while calls go straight on to MPI: there is no runtime, MPI is not initialized, or not for several threads.
inline std::atomic<const Runtime*> g_runtime{nullptr};
inline thread_local bool t_looked = false;

// Whether the process has the runtime, active or not.
const Runtime* find_runtime() noexcept;

// Looks for the runtime, once a thread: Python may load it after MPI, and then its threads are new ones.
const Runtime* look_again() noexcept;

// The runtime, for a call that can be converted where the caller is; null: the call goes to MPI as it is.
inline const Runtime* converting() noexcept {
  // Acquire pairs with the release of activate(): what the functions use is ready.
  const Runtime* runtime = g_runtime.load(std::memory_order_acquire);
  if (runtime == nullptr && !t_looked) runtime = look_again();
  return t_inside == 0 ? runtime : nullptr;
}

// MPI has been initialized, with MPI_THREAD_MULTIPLE or not: whether calls are converted from now on.
void activate(bool multiple) noexcept;
// Before MPI ends: nothing is converted from now on, and nothing polls.
void deactivate() noexcept;

// Whether the caller is in a parallel region, or may be: where others wait for the CPU that it would keep.
inline bool in_region(const Runtime& runtime) noexcept { return runtime.level == nullptr || runtime.level() > 0; }

}  // namespace weft::mpi
