// SPDX-License-Identifier: Apache-2.0
// What the process has used of the CPUs since the library was loaded, and what it has waited for others.
#pragma once

namespace weft::openmp {

struct CpuUse {
  double seconds = 0;  // that have passed
  double used = 0;     // CPU seconds
  double delayed = 0;  // seconds in which threads that could run had no CPU; of threads that are still there
};

// When the library is loaded.
void begin_cpu_use() noexcept;

CpuUse cpu_use() noexcept;

}  // namespace weft::openmp
