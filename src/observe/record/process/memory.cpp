// SPDX-License-Identifier: Apache-2.0
#include "observe/record/process/memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "platform/numa.h"

namespace weft::observe {

namespace {

using BytesByNode = std::map<int, double>;

// "7f00 default anon=512 dirty=512 N0=512 kernelpagesize_kB=4"
void add_mapping(const char* line, BytesByNode& sum) {
  const char* page = std::strstr(line, " kernelpagesize_kB=");
  if (page == nullptr || std::strstr(line, " anon=") == nullptr) return;
  const double bytes = 1024 * std::atof(page + std::strlen(" kernelpagesize_kB="));
  for (const char* at = std::strstr(line, " N"); at != nullptr; at = std::strstr(at + 1, " N")) {
    char* end = nullptr;
    const long node = std::strtol(at + 2, &end, 10);
    if (end != at + 2 && *end == '=') sum[static_cast<int>(node)] += bytes * std::atof(end + 1);
  }
}

}  // namespace

MemorySpread memory_spread() {
  MemorySpread spread;
  spread.nodes = std::max(1, platform::NumaNodes("").with_memory().count());
  if (spread.nodes < 2) return spread;
  std::FILE* file = std::fopen("/proc/self/numa_maps", "re");
  if (file == nullptr) return spread;
  BytesByNode bytes;
  char* line = nullptr;
  size_t room = 0;
  while (getline(&line, &room, file) > 0) add_mapping(line, bytes);
  std::free(line);
  std::fclose(file);
  double sum = 0;
  double largest = 0;
  for (const auto& [node, amount] : bytes) {
    sum += amount;
    largest = std::max(largest, amount);
  }
  spread.bytes = sum;
  if (sum > 0) spread.on_one_node = largest / sum;
  return spread;
}

}  // namespace weft::observe
