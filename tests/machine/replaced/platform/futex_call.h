// SPDX-License-Identifier: Apache-2.0
// In the place of src/platform/futex_call.h: the futexes of the machine of tests/machine.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

extern "C" long weft_machine_futex(const void* word, long operation, long value, const timespec* limit);

namespace weft::platform::detail {

inline long futex(const std::atomic<uint32_t>& word, long operation, long value,
                  const timespec* limit = nullptr) noexcept {
  return weft_machine_futex(&word, operation, value, limit);
}

}  // namespace weft::platform::detail
