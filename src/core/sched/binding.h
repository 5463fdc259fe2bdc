// SPDX-License-Identifier: Apache-2.0
// Binding: on which CPUs a context runs. Affinity masks belong to OS threads, so the carrier that continues a bound
// context takes on its CPUs first. A context that is not bound runs wherever its carrier is. Nothing here is ever
// called in a program that has not asked for binding.
#pragma once

#include "platform/cpu_set.h"

namespace weft::core {

// Binds the calling context, which is attached, to `cpus` until it is bound to others or is free again. Sets are told
// apart by their addresses: `cpus` must not change or go away.
void bind_self(const platform::CpuSet* cpus) noexcept;

// The same by the context's own choice, which lasts for the regions to come, too. On the OS thread of a root that has
// not bound itself, the context runs where that thread may.
void pin_self(const platform::CpuSet* cpus) noexcept;

// Whether the OS thread that runs the caller, which is attached, is one of the pool's own.
bool runs_on_worker() noexcept;

// The affinity mask that a process made by the caller is to have: the one that the caller has chosen for itself, or
// that of protect_workers(). Null: the OS thread has the right mask, or no thread is bound.
const platform::CpuSet* cpus_for_children() noexcept;

// Says where the calling context, a member of a persistent team, had best continue: on its root's thread for number 0,
// else on worker `number` - 1.
void prefer_thread(int number) noexcept;

// Whether the members of a persistent team of that size had better run apart when each of them begins a team of its
// own: on several NUMA nodes, with room for other members beside each.
bool has_room_apart(int size) noexcept;

// The thread, numbered as above, for a member of such a team; the team begins on the caller's node. The same member
// gets the same thread as long as threads stay on their nodes.
int thread_apart(int member, int size) noexcept;

// prefer_thread(), and goes there now if it can.
void go_to_thread(int number) noexcept;

// Workers that start from now on get this mask, and not that of the thread that makes them, which may have bound
// itself.
void protect_workers(const platform::CpuSet* cpus) noexcept;

}  // namespace weft::core
