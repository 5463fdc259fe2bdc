// SPDX-License-Identifier: Apache-2.0
// What WEFT_STATS prints of adopted libraries.
#pragma once

namespace weft::interpose {

// A call of `jobs` jobs is about to run, on `lent` OS threads more than were idle.
void count_gang(int jobs, int lent) noexcept;

// One is about to run on its caller alone.
void count_alone() noexcept;

}  // namespace weft::interpose
