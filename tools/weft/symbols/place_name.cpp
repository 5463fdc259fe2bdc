// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cstdio>

#include "symbols/symbols.h"

namespace weft::tools {

namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// "libfoo" of libfoo.so.1.2, "_umath" of _umath.cpython-311-x86_64-linux-gnu.so.
std::string stem(const std::string& path) {
  const std::string name = last_part(path);
  const size_t end = std::min(name.find(".so"), name.find(".cpython-"));
  return end == std::string::npos || end == 0 ? name : name.substr(0, end);
}

// Without what the compiler has added behind a point, and of C++ without types: what it returns, and the arguments of
// templates and calls.
std::string short_function(const std::string& function) {
  static const std::string kUnnamed = "(anonymous namespace)::";
  static const std::string kOperator = "operator";
  const auto is_operator = [](const std::string& text, char next) {
    if (std::isalnum(static_cast<unsigned char>(next)) != 0 || next == '_' || text.size() < kOperator.size())
      return false;
    const size_t begin = text.size() - kOperator.size();
    return text.compare(begin, kOperator.size(), kOperator) == 0 && (begin == 0 || text[begin - 1] == ':');
  };
  std::string name;
  int templates = 0;
  for (size_t at = 0; at < function.size(); ++at) {
    const char here = function[at];
    if (function.compare(at, kUnnamed.size(), kUnnamed) == 0) {
      at += kUnnamed.size() - 1;
    } else if (templates == 0 && is_operator(name, here)) {
      // Its sign, or the type that it converts to.
      const size_t end = function.find('(', at + 1);
      return name + function.substr(at, end - at);
    } else if (here == '<') {
      ++templates;
    } else if (here == '>' && templates > 0) {
      --templates;
    } else if (templates > 0) {
      continue;
    } else if (name == "decltype" && (here == ' ' || here == '(')) {
      // The type that is returned.
      name.clear();
      int depth = 0;
      while (at + 1 < function.size() && (depth > 0 || function[at] != ')')) {
        depth += function[at] == '(' ? 1 : 0;
        depth -= function[++at] == ')' ? 1 : 0;
      }
    } else if (here == ' ') {
      name.clear();
    } else if (!name.empty() && (here == '.' || here == '(')) {
      return name;
    } else {
      name += here;
    }
  }
  return name.empty() ? function : name;
}

}  // namespace

std::string name_of(const CodePlace& place) {
  if (!place.file.empty() && place.line > 0) return last_part(place.file) + ":" + std::to_string(place.line);
  const std::string object = place.object.empty() ? std::string(1, '?') : stem(place.object);
  if (!place.function.empty()) return short_function(place.function) + " (" + object + ")";
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(place.offset));
  return object + offset;
}

}  // namespace weft::tools
