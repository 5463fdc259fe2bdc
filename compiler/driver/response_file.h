// SPDX-License-Identifier: Apache-2.0
// @file on a command line: words that stand in a file, as gcc and clang read them.
#pragma once

#include <string>
#include <vector>

namespace weft::driver {

using Words = std::vector<std::string>;

// The words with each @file replaced by what it holds. One that cannot be read stays, as a compiler takes it.
Words expand_response_files(const Words& words);

// What a blank separates; quotes and backslashes keep one from doing so.
Words split_words(const std::string& text);

}  // namespace weft::driver
