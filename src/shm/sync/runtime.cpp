// SPDX-License-Identifier: Apache-2.0
#include "shm/sync/runtime.h"

#include "platform/find_symbol.h"

namespace weft::shm {

Runtime::Runtime() noexcept
    : in_parallel_(reinterpret_cast<int (*)()>(platform::find_symbol("weft_is_in_parallel"))),
      yield_(reinterpret_cast<int (*)()>(platform::find_symbol("weft_yield"))) {}

const Runtime& runtime() noexcept {
  static const Runtime found;
  return found;
}

}  // namespace weft::shm
