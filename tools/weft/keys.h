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

  // Waits so long; true when the user wants to end: by q, or by one of these signals.
  bool asked_to_end(double seconds) const;

 private:
  termios before_{};
  bool there_ = false;
};

}  // namespace weft::tools
