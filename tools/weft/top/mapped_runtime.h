// SPDX-License-Identifier: Apache-2.0
// Whether a process has weft's runtime, and where the runtime's variables lie there.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace weft::tools {

struct AddressRange {
  uint64_t begin = 0;
  uint64_t end = 0;

  bool operator==(const AddressRange&) const = default;
};

struct MappedRuntime {
  bool is_there = false;
  std::vector<AddressRange> data;  // that is written
};

MappedRuntime mapped_runtime(pid_t process);
// The same of the text of /proc/PID/maps.
MappedRuntime runtime_in(std::string_view maps);

}  // namespace weft::tools
