// SPDX-License-Identifier: Apache-2.0
// `--numa`: on which NUMA nodes a program's memory and threads are.
#pragma once

#include <string>

namespace weft::tools {

// Why `mode` is none, naming those that there are; empty: it is one.
std::string fault_of_numa_mode(const std::string& mode);

// Places this process, and so the program that replaces it. `mode` is one. What the machine or the kernel refuses is
// said, and left out: the program runs all the same. False: a node that is not there was asked for. `by_variable`: by
// WEFT_NUMA, not by the option; the default holds then.
bool place(const std::string& mode, bool by_variable);

// What becomes of a request that cannot be met, behind the message that says why.
constexpr const char* instead(bool by_variable) { return by_variable ? "; the default is used" : ""; }

}  // namespace weft::tools
