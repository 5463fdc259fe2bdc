// SPDX-License-Identifier: Apache-2.0
#include "descendants.h"

#include <filesystem>
#include <fstream>
#include <vector>

namespace weft::tools {

namespace {

std::vector<int> children_of(int process) {
  std::vector<int> found;
  std::error_code error;
  const std::string folder = "/proc/" + std::to_string(process) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(folder, error)) {
    std::ifstream children(task.path() / "children");
    for (int child = 0; children >> child;) found.push_back(child);
  }
  return found;
}

}  // namespace

int meant_process(int process, const std::function<bool(int process)>& is_meant, std::string* several) {
  if (is_meant(process)) return process;
  constexpr size_t kMost = 10'000;
  std::vector<int> all = children_of(process);
  std::vector<int> meant;
  for (size_t i = 0; i < all.size() && i < kMost; ++i) {
    if (is_meant(all[i])) meant.push_back(all[i]);
    for (const int child : children_of(all[i])) all.push_back(child);
  }
  if (meant.size() == 1) return meant.front();
  for (const int one : meant) *several += (several->empty() ? "" : ", ") + std::to_string(one);
  return process;
}

}  // namespace weft::tools
