// SPDX-License-Identifier: Apache-2.0
#include "process_stat.h"

#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include <unistd.h>

namespace weft::tools {

double ticks_to_seconds(double ticks) { return ticks / static_cast<double>(sysconf(_SC_CLK_TCK)); }

bool read_process_stat(int process, ProcessStat& stat) {
  return read_stat("/proc/" + std::to_string(process) + "/stat", stat);
}

bool read_stat(const std::string& path, ProcessStat& stat) {
  std::ifstream file(path);
  const std::string line{std::istreambuf_iterator<char>(file), {}};
  // The fields behind the name, which may hold anything.
  const size_t name_end = line.rfind(") ");
  if (name_end == std::string::npos) return false;
  std::istringstream fields(line.substr(name_end + 2));
  std::vector<std::string> words;
  for (std::string word; fields >> word;) words.push_back(word);
  constexpr size_t kFlags = 6, kUser = 11, kSystem = 12, kThreads = 17, kStart = 19;
  constexpr unsigned long kOfKernel = 0x00200000;  // PF_KTHREAD
  if (words.size() <= kStart || (std::stoul(words[kFlags]) & kOfKernel) != 0) return false;
  stat.used = ticks_to_seconds(std::stod(words[kUser]) + std::stod(words[kSystem]));
  stat.threads = std::stoi(words[kThreads]);
  stat.start = std::stoull(words[kStart]);
  return true;
}

}  // namespace weft::tools
