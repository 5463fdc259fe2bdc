// SPDX-License-Identifier: Apache-2.0
// GOMP: the error directive, one entry point for each severity.
#include "openmp/api/error_directive.h"
#include "openmp/gomp/gomp.h"

using namespace weft::openmp;

WEFT_ABI(void, GOMP_warning)(const char* message, size_t length) {
  const tool::Entry entry(WEFT_CALLER);
  warn_by_directive({message, message != nullptr ? length : 0, nullptr});
}

WEFT_ABI([[noreturn]] void, GOMP_error)(const char* message, size_t length) {
  const tool::Entry entry(WEFT_CALLER);
  end_by_directive({message, message != nullptr ? length : 0, nullptr});
}
