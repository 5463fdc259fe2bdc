// SPDX-License-Identifier: Apache-2.0
// A number for each thread, which no other thread of any process that shares memory has, also later. IDs of the system
// are given again, and are not the same in two PID namespaces.
#pragma once

#include <cstdint>

namespace weft::shm {

inline constexpr uint64_t kNobody = 0;

// Of the calling thread. In the child of a fork it is another one than the parent's.
uint64_t thread_number() noexcept;

}  // namespace weft::shm
