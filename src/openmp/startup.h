// SPDX-License-Identifier: Apache-2.0
// From the environment to a running pool.
#pragma once

namespace weft::openmp {

// Starts the pool of threads unless it runs: at the first region of more than one member, in the child of a
// fork again. Thread-safe.
void start_runtime() noexcept;

}  // namespace weft::openmp
