// SPDX-License-Identifier: Apache-2.0
// What accounts know of a context at a moment: where it is, and what it does there.
#pragma once

#include <cstdint>

#include "observe/account/construct_tree.h"
#include "observe/format/events.h"

namespace weft::observe {

enum class State : uint8_t {
  out,           // of everything: a context of the pool that waits for a member to run
  work,          // in the program
  runtime,       // in the runtime, and does not wait
  wait_barrier,
  wait_tasks,
  wait_lock,
  wait_messages,  // in a call that waits for other processes
  unwatched,  // in a region of which nothing is told; the context is its primary
  unwatched_chunks,  // in a loop, and not told of its next chunks: in the program or in the runtime
  unseen,  // in a region or a library's call that has begun while nothing was recorded
};

// What the sampler sees of a context at once.
struct Shown {
  ConstructId node = 0;
  State state = State::out;
  bool primary = false;  // member 0 of its innermost region
  bool root = false;     // a thread of the program's
  bool left = false;     // it has left its carrier
  int carrier = -1;      // -1: an OS thread that is no carrier yet

  uint64_t packed() const noexcept {
    return uint64_t{node} | uint64_t{static_cast<uint8_t>(state)} << 32 | uint64_t{primary} << 40 |
           uint64_t{root} << 41 | uint64_t{left} << 42 | static_cast<uint64_t>(carrier + 1) << 48;
  }
  static Shown of(uint64_t word) noexcept {
    Shown shown;
    shown.node = static_cast<ConstructId>(word);
    shown.state = static_cast<State>(word >> 32 & 0xff);
    shown.primary = (word >> 40 & 1) != 0;
    shown.root = (word >> 41 & 1) != 0;
    shown.left = (word >> 42 & 1) != 0;
    shown.carrier = static_cast<int>(word >> 48) - 1;
    return shown;
  }
};

}  // namespace weft::observe
