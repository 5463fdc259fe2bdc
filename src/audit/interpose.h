// SPDX-License-Identifier: Apache-2.0
// Copies of OpenBLAS are adopted when they are mapped: their callback is set before their own code runs, so that it is
// there at the first call, by whatever thread. The function it is set to brings weft's runtime in when it is needed.
#pragma once

#include <link.h>

namespace weft::audit {

// An object of the program has been mapped; `runtime` is the file of weft's runtime.
void look_at(const link_map* object, const char* runtime) noexcept;

// weft's runtime has been mapped.
void note_runtime() noexcept;

// An object is about to be unmapped: if it is a copy, there is room for another one. When the process ends, nothing is
// unmapped, and the program itself, which comes first then, is said to be closed before: jobs of others may still run.
void forget_copy(const link_map* object) noexcept;

}  // namespace weft::audit
