// SPDX-License-Identifier: Apache-2.0
// What a team's central barrier keeps (barrier.h); the lines of its dissemination barrier stand with the members
// (member_lines.h).
#pragma once

#include <atomic>
#include <cstdint>

#include "core/api/records.h"

namespace weft::openmp {

struct TeamBarrier {
  alignas(64) std::atomic<int> arrived{0};  // members
  // Barriers. On a line of its own: those that wait look at it while others arrive.
  alignas(64) std::atomic<uint32_t> passed{0};
  core::WaitQueue queue;  // of members that wait
};

}  // namespace weft::openmp
