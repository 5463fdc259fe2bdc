// SPDX-License-Identifier: Apache-2.0
// Leaving the CPU to others. Every function is thread-safe.
#pragma once

#include "core/context/context.h"

namespace weft::core {

// Leaves the CPU to others until unblock() is called for this context; returns at once when that has
// happened since the last block(). May return early: re-check the condition.
void block() noexcept;
void unblock(Context* context) noexcept;

// For an attached context that goes on where it would have blocked: if its carrier has been called for other work
// meanwhile, another one is called in its place.
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

// Lets other ready work run first, if there is any; true if it did.
bool yield() noexcept;

// The caller calls sched_yield. If it is a root between two regions that goes on to do so, it waits for something
// outside of the pool: an MPI rank for others. While other processes of the node miss its CPU it does not count as
// running, until its next region.
void note_yield() noexcept;

}  // namespace weft::core
