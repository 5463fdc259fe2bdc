// SPDX-License-Identifier: Apache-2.0
// For how long a process has done nothing.
#pragma once

#include <optional>

#include <sys/types.h>

namespace weft::tools::threads {

// Seconds since one of its threads has run that is none of weft's service threads. None: one is on a CPU, or the kernel
// does not say (it needs CONFIG_SCHED_DEBUG).
std::optional<double> seconds_still(pid_t process);

}  // namespace weft::tools::threads
