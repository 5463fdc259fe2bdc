// SPDX-License-Identifier: Apache-2.0
// Counts of adopted libraries, for WEFT_STATS.
#pragma once

namespace weft::interpose {

// Counts a call of `jobs` jobs that is about to run, with `lent` OS threads beside those that were idle.
void count_gang(int jobs, int lent) noexcept;

// Counts a call that is about to run on its caller alone.
void count_alone() noexcept;

}  // namespace weft::interpose
