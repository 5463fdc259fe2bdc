// SPDX-License-Identifier: Apache-2.0
// A number for each thread that no other thread of any process has, now or later. The system's thread IDs do not
// suffice: they are used again, and differ between PID namespaces.
#pragma once

#include <cstdint>

namespace weft::shm {

inline constexpr uint64_t kNobody = 0;

// The number of the calling thread. In the child of a fork it is another one than in the parent.
uint64_t thread_number() noexcept;

}  // namespace weft::shm
