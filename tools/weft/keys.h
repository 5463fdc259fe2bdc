// SPDX-License-Identifier: Apache-2.0
// The keys of a terminal, as they are pressed.
#pragma once

#include <string>

#include <termios.h>

namespace weft::tools {

struct Key {
  enum Kind {
    none,
    text,  // a character, or a byte of one
    enter,
    escape,
    erase,
    up,
    down,
    page_up,
    page_down,
    home,
    end,
    function,  // one of those for functions: `number`
    other,     // one that nobody here asks for
    closed,    // Ctrl-C, SIGTERM, SIGHUP, or the end of the terminal
    stopped,   // Ctrl-Z, or SIGTSTP
    resized,   // the terminal has another size
  };
  Kind kind = none;
  char character = '\0';
  int number = 0;

  bool is(char wanted) const { return kind == text && character == wanted; }
};

// Takes the first key out of what a terminal has sent. None: it is not whole.
Key take_key(std::string& sent);

// Keys come at once and are not shown, until the end of this object. Signals are noted from its beginning on.
class Keys {
 public:
  Keys();
  ~Keys();
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;

  // Waits so long for a key.
  Key pressed(double seconds);

  // Stops the process, as Ctrl-Z does, with the terminal as it was before; returns when it goes on.
  void stop();

 private:
  void begin();
  // Waits so long for more, and adds it. 0: nothing has come; below 0: nothing will.
  int wait(int milliseconds);

  termios before_{};
  bool there_ = false;
  std::string sent_;
};

}  // namespace weft::tools
