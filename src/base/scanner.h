// SPDX-License-Identifier: Apache-2.0
// A cursor over the value of an environment variable, blanks skipped.
#pragma once

#include <strings.h>
#include <cctype>
#include <cstring>

namespace weft::base {

class Scanner {
 public:
  explicit Scanner(const char* text) noexcept : at_(text) {}

  void skip() noexcept {
    while (std::isspace(static_cast<unsigned char>(*at_)) != 0) ++at_;
  }
  bool at_end() noexcept {
    skip();
    return *at_ == '\0';
  }
  bool take(char wanted) noexcept {
    skip();
    if (*at_ != wanted) return false;
    ++at_;
    return true;
  }
  bool sees(char wanted) noexcept {
    skip();
    return *at_ == wanted;
  }
  // A decimal number within bounds; anything else, overflow included, is none.
  bool number(long long least, long long most, long long* value) noexcept {
    if (!sees_digit()) return false;
    long long sum = 0;
    for (; std::isdigit(static_cast<unsigned char>(*at_)) != 0; ++at_) {
      if (sum > (most - (*at_ - '0')) / 10 + 1) return false;
      sum = sum * 10 + (*at_ - '0');
      if (sum > most) return false;
    }
    *value = sum;
    return sum >= least;
  }
  bool sees_digit() noexcept {
    skip();
    return std::isdigit(static_cast<unsigned char>(*at_)) != 0;
  }
  // The word, whatever its case.
  bool word(const char* wanted) noexcept {
    skip();
    const size_t length = std::strlen(wanted);
    if (strncasecmp(at_, wanted, length) != 0) return false;
    if (std::isalnum(static_cast<unsigned char>(at_[length])) != 0) return false;
    at_ += length;
    return true;
  }

 private:
  const char* at_;
};

}  // namespace weft::base
