// SPDX-License-Identifier: Apache-2.0
// The error directive at execution (OpenMP 5.2, section 8.5).
#pragma once

#include <cstddef>

namespace weft::openmp {

struct ErrorDirective {
  const char* message;  // null: the program gives none
  size_t length;
  const char* where;  // the compiler's name for the source line; null: it says none
};

// severity(warning): a line on stderr.
void warn_by_directive(const ErrorDirective& directive) noexcept;

// severity(fatal): the same, and the end of the program.
[[noreturn]] void end_by_directive(const ErrorDirective& directive) noexcept;

}  // namespace weft::openmp
