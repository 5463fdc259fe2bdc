// SPDX-License-Identifier: Apache-2.0
#include "core/budget/makeflags.h"

#include <cstddef>
#include <cstring>

namespace weft::core {

namespace {

// It has room for an option with a path that is too long.
using Word = std::array<char, PATH_MAX + 64>;

bool is_blank(char letter) noexcept { return letter == ' ' || letter == '\t'; }

// Takes the next word of `flags`. Make writes a backslash before blanks and backslashes of values. False: there is no
// word more. A word that is too long is cut.
bool take_word(const char*& flags, Word& word) noexcept {
  while (is_blank(*flags)) ++flags;
  if (*flags == '\0') return false;
  size_t size = 0;
  while (*flags != '\0' && !is_blank(*flags)) {
    if (*flags == '\\' && flags[1] != '\0') ++flags;
    if (size < word.size() - 1) word[size++] = *flags;
    ++flags;
  }
  word[size] = '\0';
  return true;
}

const char* value_of(const char* option, const Word& word) noexcept {
  const size_t length = std::strlen(option);
  return std::strncmp(word.data(), option, length) == 0 ? word.data() + length : nullptr;
}

// Reads the number of a descriptor, and leaves `text` behind it; below 0 it says that there is none.
bool take_descriptor(const char*& text, int& number) noexcept {
  constexpr int kMost = 1 << 30;
  const bool negative = *text == '-';
  if (negative) ++text;
  const char* const digits = text;
  int sum = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    sum = sum * 10 + (*text - '0');
    if (sum > kMost / 10) return false;
  }
  number = negative ? -1 : sum;
  return text != digits;
}

JobserverPlace place_of(const char* value) noexcept {
  JobserverPlace place;
  constexpr char kFifo[] = "fifo:";
  if (std::strncmp(value, kFifo, sizeof kFifo - 1) == 0) {
    const char* const path = value + sizeof kFifo - 1;
    const size_t length = std::strlen(path);
    if (length == 0 || length >= place.path.size() - 1) return place;
    std::memcpy(place.path.data(), path, length + 1);
    place.kind = JobserverPlace::Kind::fifo;
    return place;
  }
  int read_end = -1;
  int write_end = -1;
  if (!take_descriptor(value, read_end) || *value++ != ',' || !take_descriptor(value, write_end) || *value != '\0')
    return place;
  if (read_end < 0 || write_end < 0) {
    place.kind = JobserverPlace::Kind::withheld;
    return place;
  }
  place.kind = JobserverPlace::Kind::pipe;
  place.read_end = read_end;
  place.write_end = write_end;
  return place;
}

}  // namespace

JobserverPlace jobserver_place(const char* flags) noexcept {
  JobserverPlace place;
  if (flags == nullptr) return place;
  Word word;
  while (take_word(flags, word)) {
    // What follows are variables of the makefile's.
    if (std::strcmp(word.data(), "--") == 0) break;
    const char* value = value_of("--jobserver-auth=", word);
    if (value == nullptr) value = value_of("--jobserver-fds=", word);  // before make 4.2
    if (value != nullptr) place = place_of(value);
  }
  return place;
}

}  // namespace weft::core
