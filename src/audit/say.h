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

// The number as text, which stands in `text`.
inline constexpr size_t kDecimal = 24;
inline const char* decimal(unsigned long number, char (&text)[kDecimal]) noexcept {
  char* digit = text + kDecimal;
  *--digit = '\0';
  do *--digit = static_cast<char>('0' + number % 10);
  while ((number /= 10) > 0);
  return digit;
}

}  // namespace weft::audit
