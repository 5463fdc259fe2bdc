// SPDX-License-Identifier: Apache-2.0
// The pool's slots where threads are bound: at which place each of them is, and which of them carries a member, so that
// the members of a place meet on the OS threads that are bound to it. Slot 0 is a root's own thread, slot n worker n-1.
#pragma once

#include <cstdint>

#include "openmp/record/placement.h"
#include "platform/cpu_set.h"

namespace weft::openmp {

// Where threads are bound: the CPUs in the places. None: threads are not bound.
platform::CpuSet useful_cpus() noexcept;
// How many slots are of use there: as many as there are such CPUs.
int useful_threads() noexcept;

// The CPUs of a pool's worker, see core::Settings; null: workers are not bound.
using CpusOfWorker = const platform::CpuSet* (*)(int worker);
CpusOfWorker cpus_of_workers() noexcept;

// The slot that had best carry a member of a root's persistent team. Only where threads are bound.
int thread_of(const Placement& placement, int member) noexcept;

// The NUMA nodes of the places of a partition, as core::ParallelCall has them; 0: those of all places, or not known, or
// the pool has no slots there.
uint64_t nodes_of(const Partition& partition) noexcept;
// Reads in /sys what that needs to know, so that no member has to, on its small stack.
void look_up_nodes() noexcept;

// Whether each member has a slot for itself.
bool has_room(const Placement& placement) noexcept;

}  // namespace weft::openmp
