// SPDX-License-Identifier: Apache-2.0
// What the monitor asks of a region whose members wait for a carrier: whether those that run get on.
#pragma once

#include <cstdint>

#include "core/api/records.h"

namespace weft::openmp {

// A number that changes when a member of the region takes a chunk or a task, or comes to a barrier or a worksharing
// construct; core::Settings::motion. `parallel_call` is a Team. Thread-safe: a team's record is never unmapped, nor are
// the tables that it has outgrown.
uint64_t progress_of(const core::ParallelCall& parallel_call) noexcept;

}  // namespace weft::openmp
