// SPDX-License-Identifier: Apache-2.0
// What `weft trace` and `weft report` are told of calls that wait, if one of them looks at the process.
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

// Null: nobody traces, or who does wants to know of calls that are over alone. Relaxed: set before g_trace_call.
inline std::atomic<base::TraceWait> g_trace_wait{nullptr};
inline std::atomic<base::TraceWaited> g_trace_waited{nullptr};

// For calls that start something, which others may see before the call goes on; 0: nobody traces.
inline int64_t start_time() noexcept { return __builtin_expect(traces(), 0) ? platform::now_ns() : 0; }

// By MPI_Init, when all ranks have just met.
void begin_trace() noexcept;

// For a call of which there is nothing more to say than where it waits: MPI_Finalize. `name` stays.
void begin_wait(const char* name, const void* caller) noexcept;
void end_wait() noexcept;

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
  void number_messages() noexcept;

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
