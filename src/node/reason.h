// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft::node {

// Why something could not be had, for the user.
struct Reason {
  char text[256] = "";
  // What the text is about. useless: the file is there, and no process can be sharing by it. unknown: the file is
  // there, and processes may be using it. other: something else.
  enum class About { other, useless, unknown } about = About::other;
  [[gnu::format(printf, 2, 3)]] void say(const char* format, ...) noexcept;
  // `what`: what is wrong with the file at `path`.
  void say_useless(const char* path, const char* what) noexcept;
  void say_unknown(const char* path, const char* what) noexcept;
};

}  // namespace weft::node
