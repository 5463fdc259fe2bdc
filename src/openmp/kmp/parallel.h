// SPDX-License-Identifier: Apache-2.0
// KMP: what precedes a parallel region.
#pragma once

#include "openmp/kmp/kmp.h"

namespace weft::openmp::kmp {

// The clauses of the calling thread's next region. A negative number of threads stands for a list of numbers.
Clauses take_clauses() noexcept;
void put_back_clauses(const Clauses& clauses) noexcept;

// num_threads clause of the calling thread's next region: the first number is its own, the others are nthreads-var of
// the levels below. A list without numbers is none.
void push_num_threads(const int32_t* list, int count) noexcept;

}  // namespace weft::openmp::kmp
