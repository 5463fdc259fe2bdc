// SPDX-License-Identifier: Apache-2.0
#include "base/message.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

namespace weft::base {

namespace {

void say(const char* format, va_list arguments) noexcept {
  constexpr int kPrefix = 6;
  char line[512] = "weft: ";
  // One byte is kept for the end of the line; what does not fit is cut.
  constexpr int kRoom = static_cast<int>(sizeof line) - kPrefix - 1;
  int length = std::vsnprintf(line + kPrefix, kRoom, format, arguments);
  if (length < 0) length = 0;
  if (length >= kRoom) length = kRoom - 1;
  line[kPrefix + length] = '\n';
  if (write(STDERR_FILENO, line, static_cast<size_t>(kPrefix + length + 1)) < 0) return;
}

}  // namespace

void warn(const char* format, ...) noexcept {
  const int saved = errno;
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  errno = saved;
}

void fatal(const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  std::abort();
}

void lacking(const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  // Without exit handlers: they may wait for threads that wait for this one.
  std::_Exit(EXIT_FAILURE);
}

}  // namespace weft::base
