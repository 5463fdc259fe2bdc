// SPDX-License-Identifier: Apache-2.0
#include "node/reason.h"

#include <cstdarg>
#include <cstdio>

namespace weft::node {

void Reason::say(const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  about = About::other;
}

void Reason::say_useless(const char* path, const char* what) noexcept {
  say("%s %s; `weft node reset` removes it", path, what);
  about = About::useless;
}

void Reason::say_unknown(const char* path, const char* what) noexcept {
  say("%s %s; `weft node reset --force` removes it", path, what);
  about = About::unknown;
}

}  // namespace weft::node
