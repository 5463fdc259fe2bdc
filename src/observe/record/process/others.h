// SPDX-License-Identifier: Apache-2.0
// What other processes have used of the CPUs that the program may use.
#pragma once

#include <cstdint>

#include "platform/cpu_set.h"

namespace weft::observe {

class Others {
 public:
  // From now on, on the CPUs of the caller.
  Others() noexcept;

  // CPU time of others since then, of `all` that there was, in nanoseconds; 0 where /proc/stat does not say, or is too
  // coarse for so short a time.
  int64_t used_of(int64_t all) const noexcept;

 private:
  int64_t busy() const noexcept;

  const platform::CpuSet cpus_;
  const int64_t busy_before_;
  const int64_t own_before_;
};

}  // namespace weft::observe
