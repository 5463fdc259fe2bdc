// SPDX-License-Identifier: Apache-2.0
// The size of the messages that a call waits for.
#pragma once

#include "mpi/library/diagnostics/call.h"

namespace weft::mpi {

// The size in bytes of the data that `what` describes; -1: not known.
long long bytes_of(const Description& what) noexcept;

}  // namespace weft::mpi
