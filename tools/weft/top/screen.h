// SPDX-License-Identifier: Apache-2.0
// The whole screen of a terminal, which is as it was before when this object ends.
#pragma once

#include <string>
#include <vector>

namespace weft::tools {

class Screen {
 public:
  Screen() { take(); }
  ~Screen() { give_back(); }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  static void take();
  static void give_back();
  // At once, so that nothing flickers.
  static void show(const std::vector<std::string>& lines);
};

}  // namespace weft::tools
