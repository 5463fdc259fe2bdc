// SPDX-License-Identifier: Apache-2.0
// How many threads MKL is told to have. It asks before each call, outside of parallel regions, and divides the call by
// the answer. A call that is divided for more members than there are CPUs for them takes longer than a whole one: by
// half, where two members share a CPU. So while other threads compute too, MKL is told what its caller can have.
#pragma once

#include "openmp/library/caller.h"

namespace weft::openmp {

struct Member;

// The answer to omp_get_max_threads for MKL: the caller's nthreads-var, or while other roots compute the larger of
// - an even share of the CPUs,
// - the CPUs that are idle now, and the caller's own.
int threads_for_mkl(Member* self, const Call& call) noexcept;

// What omp_set_num_threads(threads) is to set. PyTorch sets each of its threads once to what mkl_get_max_threads()
// tells it; a moment's answer is no setting, so that becomes what MKL says to a caller that has all CPUs.
int setting_behind_mkl(int threads, const Call& call) noexcept;

}  // namespace weft::openmp
