// SPDX-License-Identifier: Apache-2.0
// What lies in the memory of a group: an area for each rank, which begins with what is declared here. Its queue
// follows, from the next page on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "coll/group/places.h"
#include "platform/cpu_set.h"
#include "platform/process.h"

namespace weft::coll {

// Of the processors that weft supports. Two words of one line go from CPU to CPU in one transfer.
inline constexpr size_t kCacheLine = 64;

// What a rank publishes in a step. `data` is the rank's until `step` holds the number of the step, and from then on
// everybody's until all ranks are done with the step.
struct alignas(kCacheLine) Line {
  static constexpr size_t kData = kCacheLine - sizeof(uint64_t);

  // In front, so that elements of any type are aligned.
  unsigned char data[kData];
  std::atomic<uint64_t> step;
};
static_assert(sizeof(Line) == kCacheLine);

// As many steps as a rank may be ahead of another one.
inline constexpr uint64_t kLines = 64;

// What the others know of a rank.
struct Member {
  platform::ProcessId process;
  Place place;
  platform::CpuSet cpus;
};

struct Area {
  // The last step that the rank is done with: it looks at nothing of others that belongs to a step so far. Written by
  // the rank alone.
  alignas(kCacheLine) std::atomic<uint64_t> done;
  // 1: somebody sleeps, or is about to, until the rank writes something. Set by those, cleared by the rank.
  std::atomic<uint32_t> sleepers;
  // On which they sleep: counts how often the rank has woken them. Written by the rank alone.
  std::atomic<uint32_t> calls;
  // Written before the group is complete, and not after.
  Member member;
  Line lines[kLines];
};

}  // namespace weft::coll
