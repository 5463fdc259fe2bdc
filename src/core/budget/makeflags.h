// SPDX-License-Identifier: Apache-2.0
// Where GNU make's jobserver is, as the variable MAKEFLAGS says. Internal to core.
#pragma once

#include <array>
#include <climits>
#include <cstdint>

namespace weft::core {

struct JobserverPlace {
  enum class Kind : uint8_t {
    none,      // no jobserver is named
    withheld,  // make has one, and keeps this process from it
    pipe,      // at two descriptors that the process has got from make
    fifo,      // at a path
  };
  Kind kind = Kind::none;
  int read_end = -1;
  int write_end = -1;
  std::array<char, PATH_MAX> path{};
};

// `flags` is the value of MAKEFLAGS, or null. Of several places the last one counts, as make's manual says. What is no
// place that make writes counts as none.
JobserverPlace jobserver_place(const char* flags) noexcept;

}  // namespace weft::core
