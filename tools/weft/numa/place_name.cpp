// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "numa/symbols.h"

namespace weft::tools::numa {

namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::string name_of(const Place& place) {
  if (!place.file.empty() && place.line > 0) return last_part(place.file) + ":" + std::to_string(place.line);
  const std::string object = place.object.empty() ? "?" : last_part(place.object);
  if (!place.function.empty()) return object + ": " + place.function;
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(place.offset));
  return object + offset;
}

}  // namespace weft::tools::numa
