// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft::mpi {

// From now on sched_yield() calls `library` first, and does nothing more where that returns true (link.h).
void hand_over_yields(bool (*library)()) noexcept;

}  // namespace weft::mpi
