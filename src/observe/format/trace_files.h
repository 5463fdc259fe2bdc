// SPDX-License-Identifier: Apache-2.0
// What lies beside a trace while a program writes it and a command waits for it.
#pragma once

#include <string>

#include <sys/stat.h>

namespace weft::observe {

// What takes the place of the trace when it is complete: all that is known while the program runs, or at its end.
inline std::string unfinished_trace(const std::string& trace, int process, bool is_cut_off) {
  return trace + "." + std::to_string(process) + (is_cut_off ? ".new" : ".end");
}

// Is there as long as weft's process `command` waits for the trace. The process that it has started takes all rights
// from this file where it cannot write the trace, and has said so. Few may make a file beside a device.
inline std::string waiting_file(const std::string& trace, int command) {
  struct stat status{};
  const bool is_plain = stat(trace.c_str(), &status) != 0 || S_ISREG(status.st_mode);
  const size_t name = trace.rfind('/') + 1;
  const std::string folder = is_plain ? trace.substr(0, name) : "/tmp/";
  return folder + "." + trace.substr(name) + "." + std::to_string(command) + ".waits";
}

}  // namespace weft::observe
