// SPDX-License-Identifier: Apache-2.0
// What lies beside a trace while a program writes it and a command waits for it.
#pragma once

#include <string>

namespace weft::observe {

// What takes the place of the trace when it is complete: all that is known while the program runs, or at its end.
inline std::string unfinished_trace(const std::string& trace, int process, bool is_cut_off) {
  return trace + "." + std::to_string(process) + (is_cut_off ? ".new" : ".end");
}

// Is there as long as weft's process `command` waits for the trace. The process that it has started removes this file
// where it cannot write the trace, and has said so.
inline std::string waiting_file(const std::string& trace, int command) {
  const size_t name = trace.rfind('/') + 1;
  return trace.substr(0, name) + "." + trace.substr(name) + "." + std::to_string(command) + ".waits";
}

}  // namespace weft::observe
