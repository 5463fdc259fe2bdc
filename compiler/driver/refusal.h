// SPDX-License-Identifier: Apache-2.0
// What ends the driver before a compiler runs.
#pragma once

#include <string>

namespace weft::driver {

inline constexpr int kUsage = 2;         // options that cannot be
inline constexpr int kNotFound = 127;    // no compiler, as shells say it
inline constexpr int kCannotRun = 126;   // it cannot be executed

// Thrown; main prints the message, which names what is wrong and the way out.
struct Refusal {
  int exit_code;
  std::string message;
};

}  // namespace weft::driver
