// SPDX-License-Identifier: Apache-2.0
#include "machine/places.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>

#include <dlfcn.h>

namespace weft::machine {

namespace {

bool is_of_library(const std::string& function, const std::string& where) {
  return function.starts_with("std::") || function.find(" std::") != std::string::npos ||
         where.starts_with("atomic_base.h") || where.starts_with("atomic:") || where.starts_with("fence.h") ||
         where.starts_with("futex.h") || where.starts_with("futex_call.h");
}

std::string short_name(std::string function, std::string where) {
  function.erase(std::min(function.find_first_of("(\n"), function.size()));
  where.erase(std::min(where.find_first_of(" \n"), where.size()));
  constexpr std::string_view kPrefix = "weft::";
  for (size_t at = function.find(kPrefix); at != std::string::npos; at = function.find(kPrefix))
    function.erase(at, kPrefix.size());
  return where + " " + function;
}

}  // namespace

std::map<const void*, std::string> names_of(const std::vector<const void*>& places) {
  std::map<const void*, std::string> names;
  std::map<std::string, std::vector<std::pair<const void*, uintptr_t>>> by_file;
  for (const void* place : places) {
    Dl_info info{};
    if (place == nullptr || dladdr(place, &info) == 0) continue;
    // The call returns behind the access.
    const uintptr_t offset = reinterpret_cast<uintptr_t>(place) - 1 - reinterpret_cast<uintptr_t>(info.dli_fbase);
    by_file[info.dli_fname].emplace_back(place, offset);
  }
  for (const auto& [file, offsets] : by_file) {
    std::string command = "addr2line -a -i -s -C -f -e '" + file + "'";
    char text[1024];
    for (const auto& [place, offset] : offsets) {
      std::snprintf(text, sizeof text, " 0x%lx", static_cast<unsigned long>(offset));
      command += text;
    }
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) continue;
    size_t index = SIZE_MAX;
    bool found = false;
    while (std::fgets(text, sizeof text, pipe) != nullptr) {
      if (std::string_view(text).starts_with("0x")) {
        ++index;
        found = false;
        continue;
      }
      const std::string function = text;
      if (std::fgets(text, sizeof text, pipe) == nullptr || index >= offsets.size()) break;
      // The last frame, if there is no other.
      if (!found) names[offsets[index].first] = short_name(function, text);
      found = found || !is_of_library(function, text);
    }
    pclose(pipe);
  }
  return names;
}

}  // namespace weft::machine
