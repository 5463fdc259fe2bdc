// SPDX-License-Identifier: Apache-2.0
// The part of a thread in a library whose threads are guests of the pool (core/budget/guest_link.h).
#pragma once

#include <cstdint>

namespace weft::core {

// The part of a thread while it is inside of that library.
enum class GuestPart : uint8_t {
  none,
  primary,  // a thread of the program, or a context of the pool, that has called the library: it runs anyway
  worker,  // a thread of the library
};

}  // namespace weft::core
