// SPDX-License-Identifier: Apache-2.0
// What writers and readers of a trace or a profile agree on besides their words (events.h, words.h).
#pragma once

namespace weft::observe {

inline constexpr char kTraceFormat[] = "weft trace 2";
inline constexpr char kProfileFormat[] = "weft profile 1";

// Slices of no context: of a carrier that has nothing to run, and of calls that wait for other processes.
inline constexpr char kIdleCategory[] = "idle";
inline constexpr char kCallCategory[] = "mpi";

// Tracks by their numbers: carriers come first.
inline constexpr int kThreadTracks = 100'000;  // from here on: of threads that no carrier runs yet
inline constexpr int kCallTracks = 200'000;    // from here on: of calls, beside the carriers, which go on

}  // namespace weft::observe
