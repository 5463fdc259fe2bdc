// SPDX-License-Identifier: Apache-2.0
// What `weft trace` is told of calls that wait, if it traces the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/traced_call.h"
#include "mpi/library/mpi.h"
#include "mpi/library/waits/call.h"
#include "platform/cycles.h"

namespace weft::mpi {

// Null: nobody traces. Relaxed: set before MPI_Init returns.
inline std::atomic<base::TraceCall> g_trace_call{nullptr};
inline bool traces() noexcept { return g_trace_call.load(std::memory_order_relaxed) != nullptr; }

// For calls that start something, which others may see before the call goes on; 0: nobody traces.
inline int64_t start_time() noexcept { return __builtin_expect(traces(), 0) ? platform::now_ns() : 0; }

// By MPI_Init, when all ranks have just met.
void begin_trace() noexcept;

// From here to its end a call waits. Messages are counted when they are started, as MPI matches them; a receive from
// anybody is counted when it has come.
class TracedWait {
 public:
  explicit TracedWait(const Call& call) noexcept;
  ~TracedWait();
  TracedWait(const TracedWait&) = delete;
  TracedWait& operator=(const TracedWait&) = delete;

  // Of the message that has come.
  void came(const MPI_Status& status) noexcept;

 private:
  Description what_;
  base::TracedCall traced_;
};

// The same, if somebody traces.
class TracedIfWanted {
 public:
  explicit TracedIfWanted(const Call& call) noexcept {
    if (__builtin_expect(traces(), 0)) traced_.emplace(call);
  }

 private:
  std::optional<TracedWait> traced_;
};

}  // namespace weft::mpi
