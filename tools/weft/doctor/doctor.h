// SPDX-License-Identifier: Apache-2.0
// `weft doctor`: what usually goes wrong, in the order in which it is likely, each with the line that mends it.
#pragma once

#include <string>
#include <vector>

namespace weft::tools {

struct DoctorOptions {
  std::string json;  // "-": to stdout
};

// Of a program, or of a process by its number, or, where `command` is empty, of what any program would find here.
int doctor(const DoctorOptions& options, const std::vector<std::string>& command);

}  // namespace weft::tools
