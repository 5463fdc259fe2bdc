// SPDX-License-Identifier: Apache-2.0
// The layout of a group's memory: an area for each rank. An area begins with what is declared here; the rank's queue
// follows on the next page.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "coll/group/location.h"
#include "platform/cpu_set.h"
#include "platform/process.h"

namespace weft::coll {

// The size of a cache line of the processors that weft supports. Two words of one line go from CPU to CPU in one
// transfer.
inline constexpr size_t kCacheLine = 64;

// What a rank publishes in a step. Only the rank touches `data` until `step` holds the number of the step; from then on
// all ranks may read it, until all are done with the step.
struct alignas(kCacheLine) Line {
  static constexpr size_t kData = kCacheLine - sizeof(uint64_t);

  // It stands in front, so that elements of any type are aligned.
  unsigned char data[kData];
  std::atomic<uint64_t> step;
};
static_assert(sizeof(Line) == kCacheLine);

// So many steps a rank may be ahead of another one.
inline constexpr uint64_t kLines = 64;

// What the other ranks know of a rank.
struct Member {
  platform::ProcessId process;
  Location location;
  platform::CpuSet cpus;
};

struct Area {
  // The last step that the rank is done with: it looks at nothing of others that belongs to a step so far. Written by
  // the rank alone.
  alignas(kCacheLine) std::atomic<uint64_t> done;
  // 1: other ranks sleep, or are about to, until this rank writes something. Set by those, cleared by this rank.
  std::atomic<uint32_t> sleepers;
  // The futex on which they sleep: counts how often this rank has woken them. Written by this rank alone.
  std::atomic<uint32_t> calls;
  // Written before the group is complete, and never after that.
  Member member;
  Line lines[kLines];
};

}  // namespace weft::coll
