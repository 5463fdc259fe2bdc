// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft::node {

// Why something could not be had, for the user.
struct Reason {
  char text[256] = "";
  // About the file: whether processes could be using it, as far as that is known.
  enum class About { other, useless, unknown } about = About::other;
  [[gnu::format(printf, 2, 3)]] void say(const char* format, ...) noexcept;
  // What is there is nothing that processes share; or it may be, but cannot be used here.
  void say_useless(const char* path, const char* what) noexcept;
  void say_unknown(const char* path, const char* what) noexcept;
};

}  // namespace weft::node
