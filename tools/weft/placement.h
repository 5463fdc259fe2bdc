// SPDX-License-Identifier: Apache-2.0
// `--numa`: on which NUMA nodes a program's memory and threads are.
#pragma once

#include <string>

namespace weft::tools {

// Why `mode` is none, naming those that there are; empty: it is one.
std::string fault_of_numa_mode(const std::string& mode);

// Places this process, and so the program that replaces it. `mode` is one. What the machine or the kernel refuses is
// said, and left out: the program runs all the same. False: a node that is not there was asked for.
bool place(const std::string& mode);

}  // namespace weft::tools
