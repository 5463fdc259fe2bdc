// SPDX-License-Identifier: Apache-2.0
// What is known of each thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::numa {

// For this thread and all that are made later: a stack for handlers.
void start_handler_stacks() noexcept;

// Whether a thread of the program's has ever had a stack for handlers of its own. Until then handlers that ask for one
// (SA_ONSTACK) run on the stack that they interrupt, as they do without the collector's.
bool program_has_handler_stacks() noexcept;

// Arrays and pauses that calls of this thread hold. A thread that is cancelled within a call, or leaves it by
// siglongjmp(), gives them back when it ends.
struct Held {
  static constexpr int kPause = -1;
  static constexpr int kMost = 32;
  int16_t what[kMost];  // the index of an array, or kPause
  uint8_t count;
};
void note_held(int what) noexcept;
void forget_held(int what) noexcept;

// The last fault of this thread that found no page protected.
struct LateFault {
  uintptr_t address;
  int64_t time;
  int in_a_row;
};
LateFault& late_fault() noexcept;

}  // namespace weft::numa
