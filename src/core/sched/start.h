// SPDX-License-Identifier: Apache-2.0
// The pool as a whole: its start, and whether the system gives it more threads. Every function is thread-safe.
#pragma once

#include "core/sched/settings.h"

namespace weft::core {

// Starts the pool once. Later calls change nothing.
void start(const Settings& settings) noexcept;

// CPU slots of the pool.
int slots() noexcept;

// Whether start() has been called in this process.
bool started() noexcept;

// Whether the system has refused a thread. Then members that wait for each other in ways that the scheduler cannot see
// may wait for ever, since no thread can be lent to them.
bool threads_refused() noexcept;

// Makes workers for that many members, as far as there are slots.
void want_workers(int members) noexcept;

// Makes a worker for work that a root has launched and does not wait for, even where the root has the only slot. The
// worker runs when the monitor has taken that slot back.
void want_worker_beside_roots() noexcept;

// Makes sure that the caller's carrier has another context to run when this one blocks. Returns false where the system
// refuses the thread for that: a context that blocks then could hold up everything.
bool has_spare() noexcept;

// Gives the memory of free contexts' stacks back to the system, or ends the contexts with their identities; new ones
// are made when they are needed. Carriers that are busy do their part when they are free.
void release_idle(bool with_identities) noexcept;

}  // namespace weft::core
