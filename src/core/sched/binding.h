// SPDX-License-Identifier: Apache-2.0
// Binding: on which CPUs a context runs. Affinity masks belong to OS threads, so the carrier that continues a bound
// context takes on its CPUs first. A context that is not bound runs wherever its carrier is. Nothing here is ever
// called in a program that has not asked for binding.
#pragma once

#include "platform/cpu_set.h"

namespace weft::core {

// The calling context, which is attached, is bound to `cpus` until it is bound to others or is free again. Sets are
// told apart by their addresses: `cpus` must not change or go away.
void bind_self(const platform::CpuSet* cpus) noexcept;

// The same by the context's own choice, which lasts: it is bound there in the regions to come, too. On the OS
// thread of a root that has not bound itself it runs where that may.
void pin_self(const platform::CpuSet* cpus) noexcept;

// Whether the OS thread that runs the caller, which is attached, is one of the pool's own.
bool runs_on_worker() noexcept;

// The affinity mask that a process made by the caller is to have: what the caller has chosen for itself, or that of
// protect_workers(). Null: its OS thread has the right one, or no thread is bound.
const platform::CpuSet* cpus_for_children() noexcept;

// The calling context, a persistent team's, had best continue there: on its root's thread for number 0, else on
// worker `number` - 1.
void prefer_thread(int number) noexcept;

// Whether a persistent team of that size had better have its members apart when each of them begins a team of its own:
// on several NUMA nodes, with room for others beside each.
bool has_room_apart(int size) noexcept;

// The thread, numbered as above, for a member of such a team; the team begins on the caller's node. The same member
// gets the same thread as long as threads stay on their nodes.
int thread_apart(int member, int size) noexcept;

// prefer_thread(), and goes there now if it can.
void go_to_thread(int number) noexcept;

// Workers that start from now on get this mask. They do not inherit that of the thread that makes them, which has bound
// itself.
void protect_workers(const platform::CpuSet* cpus) noexcept;

}  // namespace weft::core
