// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace weft::tools::threads {

// "futex", "sleep", "system call 17"
std::string name_of_call(long number);

}  // namespace weft::tools::threads
