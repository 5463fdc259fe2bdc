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

bool has_colour(int descriptor) { return isatty(descriptor) != 0 && std::getenv("NO_COLOR") == nullptr; }

}  // namespace weft::tools
