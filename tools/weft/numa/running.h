// SPDX-License-Identifier: Apache-2.0
// A process that runs already.
#pragma once

#include <cstdint>
#include <string>

#include "numa/evidence.h"
#include "numa/kernel.h"

namespace weft::tools::numa {

// What can be seen of it now: of its arrays if it was started by `weft numa`, else of its mappings of `least_size` or
// more. False, with a line on why: it is gone, somebody else's, or has no memory.
bool look_at_running(const Kernel& kernel, int pid, uint64_t least_size, Evidence& evidence, std::string& why);

std::string command_of(const Kernel& kernel, int pid);

}  // namespace weft::tools::numa
