// SPDX-License-Identifier: Apache-2.0
// Figures as people read them, and the words of others as a terminal can show them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::tools::report {

[[gnu::format(printf, 1, 2)]] std::string format(const char* text, ...);

std::string seconds_text(double seconds);  // "3.21 s", "45 ms", "0.4 us"
std::string percent_text(double part);     // of 0.214: "21 %"; of 0.0042: "0.4 %"
std::string count_text(uint64_t count);    // "1,200,000"

// "1 thread", "8 threads".
std::string of_these(uint64_t count, const char* word);

// The greatest power of two that is not above it; 1 for less.
uint64_t power_below(double value);

// Without control characters; of bytes that are no UTF-8 a '?' is left.
std::string printable(const std::string& text);

// Columns on a terminal, for text that is printable.
size_t columns(const std::string& text);
// Of the whole text as much as fits, ".." at the end if that is not all.
std::string shortened(const std::string& text, size_t room);
// At the left of `width` columns.
std::string padded(const std::string& text, size_t width);
// Lines of at most `width` columns, broken at spaces.
std::vector<std::string> wrapped(const std::string& text, size_t width);

}  // namespace weft::tools::report
