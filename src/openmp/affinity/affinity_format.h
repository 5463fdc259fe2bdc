// SPDX-License-Identifier: Apache-2.0
// How a thread says where it runs: affinity-format-var and its fields (OpenMP 5.2, sections 18.3.8 and 21.2.5).
#pragma once

#include <cstddef>

namespace weft::openmp {

struct Member;

// Writes what `format` (its first `length` characters) says of `member`, which must be the caller. No characters stand
// for affinity-format-var. Returns the length of the whole text; at most `room` - 1 characters and a null are written.
size_t capture_affinity(const Member* member, const char* format, size_t length, char* text, size_t room) noexcept;

// The same as a line on stderr.
void display_affinity(const Member* member, const char* format, size_t length) noexcept;

// affinity-format-var; thread-safe. Too long a value is cut, with a warning. The getter works as capture_affinity does.
inline constexpr size_t kMostAffinityFormat = 1023;
void set_affinity_format(const char* format, size_t length) noexcept;
size_t get_affinity_format(char* text, size_t room) noexcept;

}  // namespace weft::openmp
