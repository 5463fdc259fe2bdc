// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

namespace weft::tools {

int columns_of(int descriptor) {
  winsize size{};
  constexpr int kUsual = 100;
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

int lines_of(int descriptor) {
  winsize size{};
  constexpr int kUsual = 24;
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : kUsual;
}

bool has_colour(int descriptor) {
  const char* none = std::getenv("NO_COLOR");
  return isatty(descriptor) != 0 && (none == nullptr || *none == '\0');
}

}  // namespace weft::tools
