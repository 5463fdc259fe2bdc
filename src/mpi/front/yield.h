// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft::mpi {

// From now on sched_yield() does nothing more when `library` says that it has done what the caller needs.
void hand_over_yields(bool (*library)()) noexcept;

}  // namespace weft::mpi
