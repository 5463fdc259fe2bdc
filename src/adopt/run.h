// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "adopt/openblas.h"

namespace weft::adopt {

// Runs the jobs of a call as a gang of the pool; of the type Run.
void run(int sync, Job job, int count, size_t size, void* data, int extra) noexcept;

}  // namespace weft::adopt
