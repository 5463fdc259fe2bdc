// SPDX-License-Identifier: Apache-2.0
// Loops in which members wait for each other by looking at memory. The audit library has them call here in each round
// (audit/spin_waits.h), so that members that are ready run, as with sched_yield (openmp/api/yield.h).
#pragma once

namespace weft::openmp {

// From now on such loops call here. Where the registers of vectors cannot be kept, they stay as they are.
void offer_spin_waits() noexcept;

}  // namespace weft::openmp
