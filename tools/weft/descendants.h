// SPDX-License-Identifier: Apache-2.0
// The processes that a process has started, and those that these have started: what a shell, timeout or mpirun has
// begun.
#pragma once

#include <functional>
#include <string>

namespace weft::tools {

// The process itself, where `is_meant` says so of it; else the only descendant of which it says so. Where there are
// several or none: the process itself, and *several has their numbers.
int meant_process(int process, const std::function<bool(int process)>& is_meant, std::string* several);

}  // namespace weft::tools
