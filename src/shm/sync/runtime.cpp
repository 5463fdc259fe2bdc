// SPDX-License-Identifier: Apache-2.0
#include "shm/sync/runtime.h"

#include "platform/find_symbol.h"

namespace weft::shm {

Runtime::Runtime() noexcept {
  platform::find_function("weft_is_in_parallel", in_parallel_);
  platform::find_function("weft_yield", yield_);
}

const Runtime& runtime() noexcept {
  static const Runtime found;
  return found;
}

}  // namespace weft::shm
