// SPDX-License-Identifier: Apache-2.0
// What MPI knows of what a call waits for.
#pragma once

#include "mpi/library/waits/call.h"

namespace weft::mpi {

// -1: not known.
long long bytes_of(const Description& what) noexcept;

}  // namespace weft::mpi
