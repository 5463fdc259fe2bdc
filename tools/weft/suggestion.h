// SPDX-License-Identifier: Apache-2.0
// What a user may have meant by a word that is no command or option.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::tools {

// "did you mean run?": the name that is nearest to `word`, one that it abbreviates or that differs by few letters.
// Empty where none is near, or several are as near.
std::string suggestion(std::string_view word, const std::vector<std::string>& names);

}  // namespace weft::tools
