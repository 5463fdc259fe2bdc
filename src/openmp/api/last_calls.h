// SPDX-License-Identifier: Apache-2.0
// Calls by which a process ends without its exit handlers, or becomes another program. Before that it gives make's
// tokens back.
#pragma once

#include "platform/libc_calls.h"

namespace weft::openmp {

// To be taken where there is a jobserver only.
platform::LibcCalls last_calls() noexcept;

}  // namespace weft::openmp
