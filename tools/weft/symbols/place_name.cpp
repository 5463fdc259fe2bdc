// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>

#include "symbols/symbols.h"

namespace weft::tools {

namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// "libfoo" of libfoo.so.1.2, "_umath" of _umath.cpython-311-x86_64-linux-gnu.so.
std::string stem(const std::string& path) {
  const std::string name = last_part(path);
  const size_t end = std::min(name.find(".so"), name.find(".cpython-"));
  return end == std::string::npos || end == 0 ? name : name.substr(0, end);
}

// Without what the compiler has added behind a point, and without the types of its arguments.
std::string short_function(const std::string& function) {
  const size_t end = function.find_first_of(".(", 1);
  return end == std::string::npos ? function : function.substr(0, end);
}

}  // namespace

std::string name_of(const Place& place) {
  if (!place.file.empty() && place.line > 0) return last_part(place.file) + ":" + std::to_string(place.line);
  const std::string object = place.object.empty() ? std::string(1, '?') : stem(place.object);
  if (!place.function.empty()) return short_function(place.function) + " (" + object + ")";
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(place.offset));
  return object + offset;
}

}  // namespace weft::tools
