// SPDX-License-Identifier: Apache-2.0
// The codes with which the command ends, where none is the program's.
#pragma once

namespace weft::tools {

inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;  // wrong options
// As shells have them.
inline constexpr int kCannotExecute = 126;
inline constexpr int kNotFound = 127;
inline constexpr int kBySignal = 128;  // and the number of the signal

}  // namespace weft::tools
