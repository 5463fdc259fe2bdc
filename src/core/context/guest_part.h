// SPDX-License-Identifier: Apache-2.0
// What a thread is to a library whose threads are guests of the pool (core/budget/guest_link.h).
#pragma once

#include <cstdint>

namespace weft::core {

// While it is inside of that library.
enum class GuestPart : uint8_t {
  none,
  primary,  // the program's own, or a context of the pool: it has come by itself, and runs anyway
  worker,  // the library's own
};

}  // namespace weft::core
