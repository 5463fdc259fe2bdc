// SPDX-License-Identifier: Apache-2.0
// Between a library whose calls wait for other processes and the tool of `weft trace` or `weft report`, if both are in
// the process: the tool has functions of these names.
#pragma once

#include <climits>
#include <cstdint>

namespace weft::base {

struct TracedCall {
  static constexpr int kNone = INT_MIN;

  const char* name = "";  // stays
  int64_t began = 0;      // nanoseconds of CLOCK_MONOTONIC
  int64_t ended = 0;
  const void* caller = nullptr;
  int peer = kNone;
  int tag = kNone;
  long long bytes = -1;
  long long requests = -1;
  char communicator[40] = "";
  // A number for the message, the same in the process that sends it and in the one that gets it; 0: there is none.
  uint64_t sent = 0;
  uint64_t received = 0;
};

using TraceCall = void (*)(const TracedCall& call);
inline constexpr char kTraceCall[] = "weft_trace_call";

// The caller waits from now on, and does no more, each on the same task. A tool that has the one has the other.
using TraceWait = void (*)(const char* name, const void* caller);
inline constexpr char kTraceWait[] = "weft_trace_wait";
using TraceWaited = void (*)();
inline constexpr char kTraceWaited[] = "weft_trace_waited";

// Which part of a parallel program the process is, and a time at which all parts were at the same place.
using TraceRank = void (*)(int rank, int ranks, int64_t together);
inline constexpr char kTraceRank[] = "weft_trace_rank";

}  // namespace weft::base
