// SPDX-License-Identifier: Apache-2.0
// Files that are no more what the process has mapped: what they say of functions and lines is not true of it.
#pragma once

#include <string>
#include <vector>

#include "threads/inspector.h"

namespace weft::tools::threads {

// Their paths, told by build ids. A file without one, or whose beginning cannot be read in the process, is taken to be
// the same.
std::vector<std::string> changed_files(Inspector& process);

}  // namespace weft::tools::threads
