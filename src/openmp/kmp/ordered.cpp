// SPDX-License-Identifier: Apache-2.0
// KMP: the ordered construct.
#include "openmp/loop/ordered.h"

#include "openmp/kmp/kmp.h"

using namespace weft::openmp;
using namespace weft::openmp::kmp;

WEFT_ABI(void, __kmpc_ordered)(Ident*, int32_t) {
  const tool::Entry entry(WEFT_CALLER);
  begin_ordered(self());
}

WEFT_ABI(void, __kmpc_end_ordered)(Ident*, int32_t) {
  const tool::Entry entry(WEFT_CALLER);
  end_ordered(self());
}
