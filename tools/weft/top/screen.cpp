// SPDX-License-Identifier: Apache-2.0
#include "top/screen.h"

#include <cstdio>

namespace weft::tools {

namespace {

void put(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

// The other screen, without a cursor; lines that are too long end at the edge.
void Screen::take() { put("\x1b[?1049h\x1b[?25l\x1b[?7l"); }

void Screen::give_back() { put("\x1b[?7h\x1b[?25h\x1b[?1049l"); }

// From the upper left corner; each line is cleared behind its text, and what is below.
void Screen::show(const std::vector<std::string>& lines) {
  std::string text = "\x1b[H";
  for (size_t i = 0; i < lines.size(); ++i) text += lines[i] + "\x1b[K" + (i + 1 < lines.size() ? "\n" : "\x1b[J");
  put(text);
}

}  // namespace weft::tools
