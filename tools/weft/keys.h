// SPDX-License-Identifier: Apache-2.0
// The keys of a terminal, as they are pressed.
#pragma once

#include <termios.h>

namespace weft::tools {

// Keys come at once and are not shown, until the end of this object. SIGINT and SIGTERM are noted from its beginning
// on.
class Keys {
 public:
  Keys();
  ~Keys();
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;

  // q, Ctrl-C, one of these signals, or the end of the terminal.
  static constexpr char kEnd = 'q';
  // Waits so long for a key. Zero: none was pressed.
  char pressed(double seconds) const;

 private:
  termios before_{};
  bool there_ = false;
};

}  // namespace weft::tools
