// SPDX-License-Identifier: Apache-2.0
// What /proc/PID/stat says of a process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::tools {

double ticks_to_seconds(double ticks);

struct ProcessStat {
  std::string name;
  int parent = 0;   // 0: none in this namespace
  double used = 0;  // CPU seconds; of a process, of all threads that it has had
  int threads = 0;
  uint64_t start = 0;  // ticks since the machine was started, by which it is told from a later one with its number
};

// False: there is no such process, or it is the kernel's.
bool read_process_stat(int process, ProcessStat& stat);
// The same of such a file, a thread's for instance.
bool read_stat(const std::string& path, ProcessStat& stat);
// The same of its text.
bool parse_stat(std::string_view line, ProcessStat& stat);

}  // namespace weft::tools
