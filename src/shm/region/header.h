// SPDX-License-Identifier: Apache-2.0
// What every region of this layer begins with, by which a process sees whether it can use the region.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shm/region/home.h"

namespace weft::shm {

enum class Kind : uint32_t { rwlock = 1, kv = 2 };

enum class State : uint32_t { none, being_made, ready, destroyed };

// Plain fields are written before `state` says ready, and not after.
struct Header {
  static constexpr uint64_t kMagic = 0x6d68732d74666577;  // "weft-shm"
  static constexpr uint32_t kByteOrder = 0x01020304;
  // What must be the same on both sides beyond the layout: sizes of words.
  static constexpr uint32_t kWords = sizeof(void*) << 24 | sizeof(long) << 16;

  uint64_t magic;
  Kind kind;
  uint32_t byte_order;
  uint32_t words;
  uint32_t layout;  // another number where anything behind this header is laid out in another way
  uint64_t size;  // of the region, as far as it is used
  std::atomic<State> state;
  uint32_t probe;  // written to see whether it can be; says nothing
  std::atomic<Home> home;  // of which all owners in the region are
  uint32_t reserved[4];

  // Relaxed: see settle_at().
  uint32_t era() const noexcept { return era_of(home.load(std::memory_order_relaxed)); }
};
static_assert(sizeof(Header) == 64);

inline constexpr size_t kRegionAlignment = 64;

// A region that nobody uses yet becomes one that is being made.
void begin_region(Header& header, Kind kind, uint32_t layout, uint64_t size, Home home) noexcept;
void finish_region(Header& header) noexcept;

// Whether `bytes` at `memory`, aligned to 4, can be read or written, without a fault if not. The second overwrites
// some.
bool can_read(const void* memory, size_t bytes) noexcept;
bool can_overwrite(void* memory, size_t bytes) noexcept;

// What keeps this process from using the region at `memory`: 0, or an errno that fail() has explained. `name` is for
// messages: "weft_rwlock_attach". EAGAIN: it is still being made after a second.
int check_region(const void* memory, size_t mapped, Kind kind, uint32_t layout, const char* name) noexcept;

}  // namespace weft::shm
