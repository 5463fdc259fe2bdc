// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace weft::base {

// Changes of one letter that lead from one name to the other (Levenshtein). Names of 64 letters and more count as far
// apart.
int spelling_distance(const char* a, size_t a_length, const char* b) noexcept;

}  // namespace weft::base
