// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/runtime.h"

#include <cstring>
#include <mutex>

#include "base/message.h"
#include "mpi/library/diagnostics/watch.h"
#include "mpi/library/errors/errors.h"
#include "mpi/library/mpi.h"
#include "mpi/library/pending/pending_wait.h"
#include "platform/find_symbol.h"
#include "platform/futex_lock.h"

namespace weft::mpi {

namespace {

Runtime g_found;
platform::FutexLock g_looking;

bool search() noexcept {
  using platform::find_function;
  Runtime& found = g_found;
  // A process without a runtime looks for one name only.
  if (!find_function("weft_block_current_task", found.block)) {
    static bool said = false;
    if (platform::find_symbol("weft_stats_print") != nullptr && !said) {
      said = true;
      base::warn("mpi: this version of weft's runtime cannot pause tasks; MPI runs without weft");
    }
    return false;
  }
  find_function("weft_busy_threads", found.busy_threads);
  return find_function("weft_is_in_parallel", found.is_in_parallel) &&
         find_function("weft_get_current_blocking_context", found.context) &&
         find_function("weft_unblock_task", found.unblock) && find_function("weft_spin_until", found.spin_until) &&
         find_function("weft_yield", found.yield) &&
         find_function("weft_register_polling_service", found.register_service) &&
         find_function("weft_unregister_polling_service", found.unregister_service) &&
         find_function("weft_poll_soon", found.poll_soon) &&
         find_function("weft_get_current_event_counter", found.event_counter) &&
         find_function("weft_increase_current_task_event_counter", found.increase) &&
         find_function("weft_decrease_task_event_counter", found.decrease);
}

// Returns the runtime, if it is there; then it stays. The caller holds the lock.
const Runtime* found() noexcept {
  static bool there = false;
  if (!there) there = search();
  return there ? &g_found : nullptr;
}

bool g_ended = false;

void convert(const Runtime& runtime) noexcept {
  if (const int error = runtime.register_service("mpi", poll, nullptr); error != 0) {
    base::warn("mpi: the runtime takes no polling service (%s); MPI runs without weft", std::strerror(error));
    return;
  }
  keep_errors();
  g_runtime.store(&runtime, std::memory_order_release);
  watch_waits(runtime);
}

}  // namespace

const Runtime* find_runtime() noexcept {
  const std::lock_guard lock(g_looking);
  return found();
}

const Runtime* look_again() noexcept {
  t_looked = true;
  int initialized = 0;
  int level = 0;
  PMPI_Initialized(&initialized);
  if (initialized == 0) return nullptr;
  const std::lock_guard lock(g_looking);
  // Relaxed: written with the lock held.
  if (g_ended || g_runtime.load(std::memory_order_relaxed) != nullptr) {
    return g_runtime.load(std::memory_order_relaxed);
  }
  PMPI_Query_thread(&level);
  const Runtime* runtime = level == MPI_THREAD_MULTIPLE ? found() : nullptr;
  if (runtime != nullptr) convert(*runtime);
  return g_runtime.load(std::memory_order_relaxed);
}

void activate(const char* obstacle) noexcept {
  const std::lock_guard lock(g_looking);
  const Runtime* runtime = found();
  if (runtime == nullptr) return;
  if (obstacle != nullptr) {
    base::warn("mpi: %s; MPI runs without weft", obstacle);
    g_ended = true;
    return;
  }
  // Relaxed: written with the lock held.
  if (g_runtime.load(std::memory_order_relaxed) == nullptr) convert(*runtime);
}

void deactivate() noexcept {
  const std::lock_guard lock(g_looking);
  g_ended = true;
  // Relaxed: a call that still sees it is at the same time as MPI_Finalize, which MPI forbids.
  const Runtime* runtime = g_runtime.exchange(nullptr, std::memory_order_relaxed);
  if (runtime == nullptr) return;
  runtime->unregister_service(poll, nullptr);
  const int waiting = pending_waits();
  if (waiting > 0) base::warn("mpi: MPI_Finalize is called while %d tasks wait for MPI", waiting);
  end_watch(waiting > 0);
}

}  // namespace weft::mpi
