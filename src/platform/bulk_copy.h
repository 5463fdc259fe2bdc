// SPDX-License-Identifier: Apache-2.0
// Copies memory that somebody else may be writing: what comes out may then be anything, and the caller finds out.
#pragma once

#include <cstdint>

namespace weft::platform {

inline constexpr bool kHasBulkCopy =
#if defined(__x86_64__)
    true;
#else
    false;
#endif

// Only where kHasBulkCopy says so. One instruction, so that neither the compiler nor a race detector takes it for a
// copy of memory that rests. Loads behind it come behind it: the fence holds them back, since a processor may copy in
// any order.
inline void copy_bulk([[maybe_unused]] void* to, [[maybe_unused]] const void* from,
                      [[maybe_unused]] uint64_t bytes) noexcept {
#if defined(__x86_64__)
  asm volatile("rep movsb\n\tlfence" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
#endif
}

}  // namespace weft::platform
