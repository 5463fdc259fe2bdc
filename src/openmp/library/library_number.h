// SPDX-License-Identifier: Apache-2.0
// The number of threads that each library has in its global (openmp/library/call_right.h): what it was told last, or
// what the program has set.
#pragma once

namespace weft::openmp {

// Of the library whose code is at `caller`; 0: it has not been told any.
int library_number(const void* caller) noexcept;

void note_library_number(const void* caller, int threads) noexcept;

}  // namespace weft::openmp
