// SPDX-License-Identifier: Apache-2.0
// How a region begins that the code at some address opens, whatever the ABI: a library's, after it has been told how
// many threads there are, needs all of them at the same time; so does one that asks no more.
#pragma once

#include "openmp/library/caller.h"
#include "openmp/library/nested_blas.h"
#include "openmp/team/parallel.h"

namespace weft::openmp {

// As parallel(). Inlined, so that a region of the program's own pays one look at what its thread has been told.
template <bool Told = true>
[[gnu::always_inline]] inline void parallel_for_caller(const void* caller, Invoke invoke, void** words,
                                                       Clauses clauses) noexcept {
  if (t_told > 1 || g_counts_itself.load(std::memory_order_relaxed)) {
    if (const int size = gang_size(caller); size > 1) return parallel_gang(invoke, words, size);
  }
  parallel<Told>(invoke, words, clauses);
}

}  // namespace weft::openmp
