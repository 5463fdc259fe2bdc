// SPDX-License-Identifier: Apache-2.0
// What `weft trace` and `weft report` are told of calls that wait, if one of them looks at the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/traced_call.h"
#include "mpi/library/diagnostics/call.h"
#include "mpi/library/mpi.h"
#include "platform/cycles.h"

namespace weft::mpi {

// The function of the tool that is called when a wait is over; null: no tool traces. Relaxed: set before MPI_Init
// returns.
inline std::atomic<base::TraceCall> g_trace_call{nullptr};
inline bool traces() noexcept { return g_trace_call.load(std::memory_order_relaxed) != nullptr; }

// Whether there is a trace, whose arrows need the numbers of messages. Relaxed: set before g_trace_call.
inline std::atomic<bool> g_numbers_messages{false};

// The functions of the tool that are called when a wait begins and ends. Null: no tool traces, or the tool wants to
// know of waits only when they are over. Relaxed: set before g_trace_call.
inline std::atomic<base::TraceWait> g_trace_wait{nullptr};
inline std::atomic<base::TraceWaited> g_trace_waited{nullptr};

// The time at which a call is about to start a message; other ranks may see the message before the call goes on. 0: no
// tool traces.
inline int64_t start_time() noexcept { return __builtin_expect(traces(), 0) ? platform::now_ns() : 0; }

// Called by MPI_Init, when all ranks have just met.
void begin_trace() noexcept;

// Brackets a wait of which a tool learns only the call's name and caller, as in MPI_Finalize. `name` stays.
void begin_wait(const char* name, const void* caller) noexcept;
void end_wait() noexcept;

// While the object lives, a call waits. A message gets its number when it is started, since MPI matches messages in
// that order; a receive from MPI_ANY_SOURCE gets its number when its message has come.
class TracedWait {
 public:
  explicit TracedWait(const Call& call) noexcept;
  ~TracedWait();
  TracedWait(const TracedWait&) = delete;
  TracedWait& operator=(const TracedWait&) = delete;

  // A message has come; `status` is its status.
  void came(const MPI_Status& status) noexcept;

 private:
  void number_messages() noexcept;

  Description what_;
  base::TracedCall traced_;
};

// The same, but nothing where no tool traces.
class TracedIfWanted {
 public:
  explicit TracedIfWanted(const Call& call) noexcept {
    if (__builtin_expect(traces(), 0)) traced_.emplace(call);
  }

 private:
  std::optional<TracedWait> traced_;
};

}  // namespace weft::mpi
