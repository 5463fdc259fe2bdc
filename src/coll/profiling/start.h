// SPDX-License-Identifier: Apache-2.0
// The start of MPI, where the ranks agree whether weft takes part.
#pragma once

#include "coll/profiling/process_mpi.h"

namespace weft::coll {

int call_init(int* argc, char*** argv) noexcept;
int call_init_thread(int* argc, char*** argv, int required, int* provided) noexcept;

// To be called when MPI has started, with what the call has returned. Returns that.
int started(int code) noexcept;

}  // namespace weft::coll
