// SPDX-License-Identifier: Apache-2.0
// Colours of a terminal, where it is wanted that there are some. They only repeat what the words say.
#pragma once

#include <string>

namespace weft::tools {

class Colour {
 public:
  explicit Colour(bool on) : on_(on) {}

  std::string bold(const std::string& text) const { return in("1", text); }
  std::string good(const std::string& text) const { return in("32", text); }
  std::string bad(const std::string& text) const { return in("31", text); }
  std::string reversed(const std::string& text) const { return in("7", text); }
  std::string faint(const std::string& text) const { return in("2", text); }

 private:
  std::string in(const char* code, const std::string& text) const {
    return on_ && !text.empty() ? std::string("\x1b[") + code + "m" + text + "\x1b[0m" : text;
  }

  const bool on_;
};

}  // namespace weft::tools
