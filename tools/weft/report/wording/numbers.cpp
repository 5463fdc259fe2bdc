// SPDX-License-Identifier: Apache-2.0
#include "report/wording/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace weft::tools::report {

namespace {

bool goes_on(unsigned char c) { return (c & 0xc0) == 0x80; }

// Bytes of the character that begins there; 0: none does.
size_t length_at(const std::string& text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const size_t length = first < 0x80             ? 1
                        : (first & 0xe0) == 0xc0 ? 2
                        : (first & 0xf0) == 0xe0 ? 3
                        : (first & 0xf8) == 0xf0 ? 4
                                                 : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!goes_on(static_cast<unsigned char>(text[at + i]))) return 0;
  }
  return length;
}

// A terminal obeys the 32 characters behind 0x7f too; in UTF-8 they begin with 0xc2.
bool is_control(const std::string& text, size_t at, size_t length) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (length == 1) return first < ' ' || first == 0x7f;
  return length == 2 && first == 0xc2 && static_cast<unsigned char>(text[at + 1]) < 0xa0;
}

}  // namespace

std::string format(const char* text, ...) {
  va_list arguments;
  va_start(arguments, text);
  va_list again;
  va_copy(again, arguments);
  std::string line(static_cast<size_t>(std::max(std::vsnprintf(nullptr, 0, text, arguments), 0)), '\0');
  std::vsnprintf(line.data(), line.size() + 1, text, again);
  va_end(again);
  va_end(arguments);
  return line;
}

std::string seconds_text(double seconds) {
  static constexpr const char* kUnits[] = {"s", "ms", "us", "ns"};
  double value = std::abs(seconds);
  if (value == 0) return "0 s";
  size_t unit = 0;
  // What rounds up to a whole unit is one.
  while (value < 0.9995 && unit + 1 < std::size(kUnits)) {
    value *= 1000;
    ++unit;
  }
  const char* form = value < 9.995 && unit == 0 ? "%s%.2f %s" : value < 99.95 && unit != 3 ? "%s%.1f %s" : "%s%.0f %s";
  return format(form, seconds < 0 ? "-" : "", value, kUnits[unit]);
}

std::string percent_text(double part) {
  const double value = 100 * part;
  const bool small = std::abs(value) < 0.95 && std::abs(value) >= 0.05;
  return small ? format("%.1f %%", value) : format("%ld %%", std::lround(value));
}

std::string count_text(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string of_these(uint64_t count, const char* word) {
  return count_text(count) + " " + word + (count == 1 ? "" : "s");
}

uint64_t power_below(double value) {
  uint64_t power = 1;
  while (static_cast<double>(power) * 2 <= value && power < uint64_t{1} << 62) power *= 2;
  return power;
}

std::string printable(const std::string& text) {
  std::string shown;
  for (size_t at = 0; at < text.size();) {
    const size_t length = length_at(text, at);
    if (length == 0 || is_control(text, at, length)) {
      shown += '?';
    } else {
      shown.append(text, at, length);
    }
    at += std::max<size_t>(length, 1);
  }
  return shown;
}

size_t columns(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !goes_on(static_cast<unsigned char>(c)); }));
}

std::string shortened(const std::string& text, size_t room) {
  if (columns(text) <= room) return text;
  std::string shown;
  size_t used = 0;
  for (const char c : text) {
    if (!goes_on(static_cast<unsigned char>(c)) && ++used + 2 > room) break;
    shown += c;
  }
  return shown + std::string(std::min<size_t>(room, 2), '.');
}

std::string padded(const std::string& text, size_t width) {
  const size_t used = columns(text);
  return used < width ? text + std::string(width - used, ' ') : text;
}

std::vector<std::string> wrapped(const std::string& text, size_t width) {
  std::vector<std::string> lines;
  std::string line;
  for (size_t at = 0; at < text.size();) {
    const size_t space = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, space - at);
    at = space + 1;
    if (word.empty()) continue;
    if (!line.empty() && columns(line) + 1 + columns(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace weft::tools::report
