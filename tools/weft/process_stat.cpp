// SPDX-License-Identifier: Apache-2.0
#include "process_stat.h"

#include <array>
#include <charconv>
#include <fstream>
#include <iterator>

#include <unistd.h>

#include "proc_file.h"

namespace weft::tools {

double ticks_to_seconds(double ticks) { return ticks / static_cast<double>(sysconf(_SC_CLK_TCK)); }

bool read_process_stat(int process, ProcessStat& stat) {
  thread_local std::string line;
  return read_proc_file(process, "stat", line) && parse_stat(line, stat);
}

bool read_stat(const std::string& path, ProcessStat& stat) {
  std::ifstream file(path);
  const std::string line{std::istreambuf_iterator<char>(file), {}};
  return parse_stat(line, stat);
}

bool parse_stat(std::string_view line, ProcessStat& stat) {
  // The name may hold anything.
  const size_t name = line.find('(');
  const size_t name_end = line.rfind(") ");
  if (name_end == std::string_view::npos || name >= name_end || name_end + 3 > line.size()) return false;
  // The fields behind it and the state.
  constexpr size_t kParent = 1, kFlags = 6, kUser = 11, kSystem = 12, kThreads = 17, kStart = 19;
  constexpr int64_t kOfKernel = 0x00200000;  // PF_KTHREAD
  std::array<int64_t, kStart + 1> fields{};
  const char* at = line.data() + name_end + 3;
  const char* const end = line.data() + line.size();
  for (size_t i = kParent; i <= kStart; ++i) {
    while (at < end && *at == ' ') ++at;
    const auto read = std::from_chars(at, end, fields[i]);
    if (read.ec != std::errc()) return false;
    at = read.ptr;
  }
  if ((fields[kFlags] & kOfKernel) != 0) return false;
  stat.name = line.substr(name + 1, name_end - name - 1);
  stat.parent = static_cast<int>(fields[kParent]);
  stat.used = ticks_to_seconds(static_cast<double>(fields[kUser] + fields[kSystem]));
  stat.threads = static_cast<int>(fields[kThreads]);
  stat.start = static_cast<uint64_t>(fields[kStart]);
  return true;
}

}  // namespace weft::tools
