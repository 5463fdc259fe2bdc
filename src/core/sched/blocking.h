// SPDX-License-Identifier: Apache-2.0
// Leaving the CPU to others. Every function is thread-safe.
#pragma once

#include "core/context/context.h"

namespace weft::core {

// Leaves the CPU to others until unblock() is called for this context; returns at once where that has happened since
// the last block(). May return early: the caller looks at its condition again.
void block() noexcept;
void unblock(Context* context) noexcept;

// For an attached context that goes on where it would have blocked: if its carrier has been called for other work
// meanwhile, another carrier is called in its place.
void pass_call_on() noexcept;

// Blocks, unless what the caller waits for has come by now.
template <class Done>
void block_unless(Done&& done) noexcept {
  if (done()) {
    pass_call_on();
  } else {
    block();
  }
}

// Lets other ready work run first, if there is any. Returns whether there was.
bool yield() noexcept;

// To be called where the program calls sched_yield. A root that does so again and again between two regions waits for
// something outside of the pool, as an MPI rank waits for others. While other processes of the node miss its CPU, it
// does not count as running until its next region.
void note_yield() noexcept;

}  // namespace weft::core
