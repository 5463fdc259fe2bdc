// SPDX-License-Identifier: Apache-2.0
// Signals that the program sends to one of its threads, which the runtime is asked about first
// (openmp/api/thread_signals.h).
#pragma once

#include <link.h>

namespace weft::audit {

// For each object of the program as it is mapped, before its code runs.
void look_for_signals(const link_map* object, const char* runtime) noexcept;

// For each object that is unmapped: the runtime is when it could not be loaded to the end.
void forget_signals(const link_map* object, const char* runtime) noexcept;

}  // namespace weft::audit
