// SPDX-License-Identifier: Apache-2.0
// Single copy as the operations use it: a rank offers an address in a step, others read or write there, and the rank
// goes on when all are done with the step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "coll/group/group.h"

namespace weft::coll {

inline void offer(Group& group, uint64_t step, const void* data) noexcept {
  const auto address = reinterpret_cast<uint64_t>(data);
  std::memcpy(group.own_line(step), &address, sizeof address);
  group.publish(step);
}

// Waits until `rank` offers an address in the step, and returns the address.
inline uint64_t await_offer(Group& group, int rank, uint64_t step) noexcept {
  uint64_t address;
  std::memcpy(&address, group.await_line(rank, step), sizeof address);
  return address;
}

// The process ends with a message where the kernel refuses access that it has granted before.
void read_from(Group& group, int rank, void* to, uint64_t from, size_t bytes) noexcept;
void write_to(Group& group, int rank, uint64_t to, const void* from, size_t bytes) noexcept;

}  // namespace weft::coll
