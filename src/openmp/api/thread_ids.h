// SPDX-License-Identifier: Apache-2.0
// Small numbers for OS threads, of which no two that exist at the same time have the same: libraries keep what one
// thread at a time may touch by them. A thread gets its number when it first asks; the number of one that has ended is
// another's.
#pragma once

namespace weft::openmp {

// How many numbers there are where the pool has so many slots (WEFT_ALPI_CPUS).
int thread_id_count(int slots) noexcept;

// That of the OS thread that runs the caller, which is attached to the pool. Until the caller waits. -1: there are no
// more.
int thread_id() noexcept;

}  // namespace weft::openmp
