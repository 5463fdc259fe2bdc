// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft::mpi {

// From now on sched_yield() does nothing in threads for which `testing` says yes.
void leave_out_yields(bool (*testing)()) noexcept;

}  // namespace weft::mpi
