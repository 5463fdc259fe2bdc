// SPDX-License-Identifier: Apache-2.0
// A line on stderr, of a library without a libc.
#pragma once

#include <climits>
#include <cstddef>
#include <initializer_list>

#include <unistd.h>

namespace weft::audit {

// In one piece, so that lines of several processes do not mix.
inline void say(std::initializer_list<const char*> parts) noexcept {
  char line[PATH_MAX + 256];
  size_t length = 0;
  for (const char* part : parts) {
    for (; *part != '\0' && length < sizeof line; ++part) line[length++] = *part;
  }
  if (write(STDERR_FILENO, line, length) < 0) return;
}

}  // namespace weft::audit
