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

// The runtime that converted calls use. Null while calls go straight on to MPI: there is no runtime, or MPI is not
// initialized, or not for several threads.
inline std::atomic<const Runtime*> g_runtime{nullptr};
inline thread_local bool t_looked = false;

// Weft's runtime if the process has it, whether calls are converted or not; otherwise null.
const Runtime* find_runtime() noexcept;

// Looks for the runtime, once a thread: Python may load it after MPI, and then its threads are new ones.
const Runtime* look_again() noexcept;

// The runtime; null where the calls of the caller go to MPI as they are, also since MPI has called it back (inside.h).
// Inlined: each call asks this, and a program without tasks asks little else.
[[gnu::always_inline]] inline const Runtime* runtime_here() noexcept {
  // Acquire pairs with the release of activate(): what the functions use is ready.
  const Runtime* runtime = g_runtime.load(std::memory_order_acquire);
  if (runtime == nullptr && !t_looked) runtime = look_again();
  return t_inside == 0 ? runtime : nullptr;
}

// How many tasks, or events of tasks, wait for messages: waits that were handed over to pending/ and have not ended.
inline std::atomic<int> g_pending_waits{0};
inline int pending_waits() noexcept { return g_pending_waits.load(); }

// Called when MPI has been initialized: calls are converted from now on. `obstacle`: why they cannot be, which is said
// to the user; null if they can.
void activate(const char* obstacle) noexcept;
// Called before MPI ends: no call is converted from now on, and nothing polls.
void deactivate() noexcept;

// Whether the caller is in a parallel region, so that other members may need the CPU that it would keep.
inline bool in_parallel(const Runtime& runtime) noexcept {
  return runtime.is_in_parallel == nullptr || runtime.is_in_parallel() != 0;
}

// The runtime if the call is to be converted, or null. A thread outside of parallel regions may as well wait in MPI,
// unless there are pending waits of others, which it then polls for.
[[gnu::always_inline]] inline const Runtime* converting() noexcept {
  const Runtime* runtime = runtime_here();
  return runtime != nullptr && (in_parallel(*runtime) || pending_waits() > 0) ? runtime : nullptr;
}

}  // namespace weft::mpi
