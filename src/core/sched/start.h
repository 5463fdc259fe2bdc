// SPDX-License-Identifier: Apache-2.0
// The pool as a whole: its start, and what it can still get of the system. Every function is thread-safe.
#pragma once

#include "core/sched/settings.h"

namespace weft::core {

// Starts the pool once. Later calls change nothing.
void start(const Settings& settings) noexcept;

// CPU slots of the pool.
int slots() noexcept;

// Whether start() has been called in this process.
bool started() noexcept;

// Whether the system has refused a thread before. Then members that wait for each other in ways that the scheduler
// cannot see may have to wait for ever, since no thread can be lent to them.
bool threads_refused() noexcept;

// Sees to it that there are workers for that many members, as far as there are slots.
void want_workers(int members) noexcept;

// The same for work that a root has launched and does not wait for: there is a worker even where the root's is the only
// slot. It runs when the monitor has taken that back.
void want_worker_beside_roots() noexcept;

// Sees to it that the caller's carrier can leave a context that blocks: false when the system refuses the
// thread for that. Contexts made after a refusal could hold up everything.
bool has_spare() noexcept;

// Gives the memory of idle contexts' stacks back to the system, or ends them with their identities; the next call that
// needs some makes new ones. Carriers that are busy do their part when they are not.
void release_idle(bool with_identities) noexcept;

}  // namespace weft::core
