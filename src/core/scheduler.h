// SPDX-License-Identifier: Apache-2.0
// The scheduler: which context a carrier runs next, and how a carrier waits when there is none.
// Every function is thread-safe. docs/design/core.md describes the protocols.
#pragma once

#include "core/bundle.h"
#include "core/context.h"

namespace weft::core {

struct Settings {
  int slots = 1;              // carriers that may run at once
  size_t stack_size = 8u << 20;  // bytes, of a context
  long spin_ns = 1'000'000;   // how long an idle carrier looks before it sleeps
};

// Starts the pool once. Later calls change nothing.
void start(const Settings& settings) noexcept;

// CPU slots of the pool.
int slots() noexcept;

// The caller's context; a thread that is not of the pool becomes a root.
Context* attach() noexcept;

// A context of the caller's own that will run `entry(argument)` once it is unblocked, or null when the
// system refuses another thread.
Context* make_context(Entry entry, void* argument) noexcept;

// Offers the calls 1 .. count-1 of `bundle`, whose `call` is set, to every carrier.
void publish(Bundle* bundle, int count) noexcept;

// Waits until all published calls have ended; runs those that nobody claims.
void join(Bundle* bundle) noexcept;

// Leaves the CPU to others until unblock() is called for this context; returns at once when that has
// happened since the last block(). May return early: re-check the condition.
void block() noexcept;
void unblock(Context* context) noexcept;

// Lets other ready work run first, if there is any.
void yield() noexcept;


}  // namespace weft::core
