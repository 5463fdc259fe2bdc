// SPDX-License-Identifier: Apache-2.0
// Where the runtime lies that belongs to this command.
#pragma once

#include <filesystem>

namespace weft::tools {

struct Libraries {
  std::filesystem::path runtime;  // libgomp.so.1
  std::filesystem::path audit;    // libweft_audit.so
  std::filesystem::path trace;    // libweft_trace.so
};

// Looks beside the command: as built, then as installed. Ends the process with a message when there is none.
Libraries find_libraries();

}  // namespace weft::tools
