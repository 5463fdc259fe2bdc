// SPDX-License-Identifier: Apache-2.0
// omp_pause_resource: giving back what OpenMP holds between regions (OpenMP 5.2, section 18.6.1).
#pragma once

namespace weft::openmp {

// The numbers are those of omp_pause_resource_t.
enum class Pause : int {
  soft = 1,  // memory that idle threads do not need; they stay, and so do threadprivate data
  hard = 2,  // the threads of the caller's team and all idle ones end; the next region has new ones
};

// 0, or -1 when the caller is inside a region or `pause` is none of these.
int pause_resources(Pause pause) noexcept;

}  // namespace weft::openmp
