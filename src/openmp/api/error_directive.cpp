// SPDX-License-Identifier: Apache-2.0
#include "openmp/api/error_directive.h"

#include <algorithm>
#include <cstdlib>

#include "base/message.h"
#include "openmp/tool/events.h"

namespace weft::openmp {

namespace {

void report(bool fatal, const ErrorDirective& directive) noexcept {
  constexpr size_t kMost = 1000;  // characters of the program's message
  tool::error(fatal, directive.message, directive.length);
  const bool has_message = directive.message != nullptr;
  const bool has_where = directive.where != nullptr;
  base::warn("%s directive encountered%s%.*s%s%s%s", fatal ? "error" : "warning", has_message ? ": " : "",
             static_cast<int>(std::min(directive.length, kMost)), has_message ? directive.message : "",
             has_where ? " (" : "", has_where ? directive.where : "", has_where ? ")" : "");
}

}  // namespace

void warn_by_directive(const ErrorDirective& directive) noexcept { report(false, directive); }

void end_by_directive(const ErrorDirective& directive) noexcept {
  report(true, directive);
  std::exit(EXIT_FAILURE);
}

}  // namespace weft::openmp
