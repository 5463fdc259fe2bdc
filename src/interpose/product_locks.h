// SPDX-License-Identifier: Apache-2.0
// The locks that products of OpenBLAS on pthreads hold while their jobs run, one for each routine or one for all: two
// calls at a time would give jobs to the same threads of the library, and to their buffers. Jobs that weft runs have
// numbers, and so buffers, of their own. Such calls need not wait for each other, and a caller that waits leaves a CPU
// idle. So a copy's calls of libc's functions come here, and a lock that the caller holds is given back when its jobs
// begin. Versions that hold none meanwhile, 0.3.29 and 0.3.30, lose nothing by it.
#pragma once

#include "platform/loaded_object.h"

namespace weft::interpose {

// The calls of locks by this object, which holds a copy and nothing else, come here from now on. Thread-safe, also
// while others hold locks. Where the system refuses, calls stay libc's.
void take_lock_calls(const platform::LoadedObject& object) noexcept;

// To be called when jobs that weft runs begin: gives back the lock that the caller holds for them. The library's own
// call that would do so later does nothing then. Returns whether there is one.
bool release_product_lock() noexcept;

// Takes it again, where weft cannot run the jobs after all.
void retake_product_lock() noexcept;

// In the child of a fork: other threads may have held locks of copies.
void free_locks() noexcept;

}  // namespace weft::interpose
