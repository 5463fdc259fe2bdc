// SPDX-License-Identifier: Apache-2.0
// The functions that the library calls in place of its own threads.
#pragma once

#include "interpose/openblas.h"

namespace weft::interpose {

struct Copy;

// Runs the jobs of a call; it has the type Run.
void run(int sync, Job job, int count, size_t size, void* data, int extra) noexcept;

// Makes the jobs of a list run beside the caller, which goes on and then waits for them; `position` is the first one's.
void begin(Copy* copy, long position, QueuedJob* jobs) noexcept;
void await(QueuedJob* jobs) noexcept;

}  // namespace weft::interpose
