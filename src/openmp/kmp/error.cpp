// SPDX-License-Identifier: Apache-2.0
// KMP: the error directive.
#include <cstring>

#include "openmp/api/error_directive.h"
#include "openmp/kmp/kmp.h"

using namespace weft::openmp;
using namespace weft::openmp::kmp;

WEFT_ABI(void, __kmpc_error)(Ident* location, int32_t severity, const char* message) {
  constexpr int32_t kFatal = 2;
  const tool::Entry entry(WEFT_CALLER);
  const char* where = location != nullptr ? location->source : nullptr;
  const ErrorDirective directive{message, message != nullptr ? std::strlen(message) : 0, where};
  if (severity == kFatal) end_by_directive(directive);
  warn_by_directive(directive);
}
