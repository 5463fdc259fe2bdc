// SPDX-License-Identifier: Apache-2.0
// The header of every segment. By it a process sees whether it can use the segment.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shm/segment/home.h"

namespace weft::shm {

enum class Kind : uint32_t { rwlock = 1, kv = 2 };

enum class State : uint32_t { none, being_made, ready, destroyed };

// Plain fields are written before `state` says ready, and not after.
struct Header {
  static constexpr uint64_t kMagic = 0x6d68732d74666577;  // "weft-shm"
  static constexpr uint32_t kByteOrder = 0x01020304;
  // Sizes of words: like the layout, they must be the same for all processes that share a segment.
  static constexpr uint32_t kWords = sizeof(void*) << 24 | sizeof(long) << 16;

  uint64_t magic;
  Kind kind;
  uint32_t byte_order;
  uint32_t words;
  uint32_t layout;  // the number of the layout of what follows this header
  uint64_t size;    // of the segment, as far as it is used
  std::atomic<State> state;
  uint32_t probe;  // written by can_overwrite() to see whether the memory can be written; its value means nothing
  std::atomic<Home> home;  // the home of all owners in the segment
  uint32_t reserved[4];

  // Relaxed: see settle_at().
  uint32_t era() const noexcept { return era_of(home.load(std::memory_order_relaxed)); }
};
static_assert(sizeof(Header) == 64);

inline constexpr size_t kSegmentAlignment = 64;

// begin_segment() starts to make a segment in memory that no process uses yet; finish_segment() makes it ready.
void begin_segment(Header& header, Kind kind, uint32_t layout, uint64_t size, Home home) noexcept;
void finish_segment(Header& header) noexcept;

// Whether `bytes` at `memory`, aligned to 4, can be read, or written; where not, the answer is no and not a fault.
// can_overwrite() overwrites some bytes.
bool can_read(const void* memory, size_t bytes) noexcept;
bool can_overwrite(void* memory, size_t bytes) noexcept;

// Returns 0 if this process can use the segment at `memory`, or an errno that fail() has explained. `name`: of the
// public function, for messages. EAGAIN: the segment is still being made after a second.
int check_segment(const void* memory, size_t mapped, Kind kind, uint32_t layout, const char* name) noexcept;

}  // namespace weft::shm
