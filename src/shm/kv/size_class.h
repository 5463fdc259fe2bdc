// SPDX-License-Identifier: Apache-2.0
// The sizes that blocks of a store have: each unit of 16 bytes up to 128, then four sizes for each doubling, so that no
// block is more than a quarter too large.
#pragma once

#include <bit>
#include <cstdint>

namespace weft::shm {

inline constexpr uint64_t kUnit = 16;
inline constexpr unsigned kSizeClasses = 160;

constexpr uint64_t size_of_class(unsigned index) noexcept {
  if (index < 8) return (index + 1) * kUnit;
  const unsigned doubling = (index - 8) / 4;
  const uint64_t base = (8 * kUnit) << doubling;
  return base + base / 4 * ((index - 8) % 4 + 1);
}

// The smallest class whose blocks have room for `bytes`; kSizeClasses: there is none.
constexpr unsigned class_of_size(uint64_t bytes) noexcept {
  const uint64_t units = bytes == 0 ? 1 : (bytes - 1) / kUnit + 1;
  if (units <= 8) return static_cast<unsigned>(units - 1);
  const uint64_t last = units - 1;  // 8 or more: its upper three bits say which quarter of which doubling
  const auto doubling = static_cast<unsigned>(std::bit_width(last)) - 4;
  const auto quarter = static_cast<unsigned>(last >> (doubling + 1) & 3);
  const unsigned index = 8 + 4 * doubling + quarter;
  return index < kSizeClasses ? index : kSizeClasses;
}

// The largest class whose blocks are no larger than `bytes`, which is a unit or more.
constexpr unsigned class_within(uint64_t bytes) noexcept {
  const unsigned index = class_of_size(bytes);
  return index < kSizeClasses && size_of_class(index) == bytes ? index : (index == 0 ? 0 : index - 1);
}

static_assert(size_of_class(7) == 128 && size_of_class(8) == 160 && size_of_class(11) == 256);
static_assert(class_of_size(128) == 7 && class_of_size(129) == 8 && class_of_size(160) == 8 && class_of_size(161) == 9);
static_assert(class_of_size(256) == 11 && class_of_size(257) == 12 && class_of_size(320) == 12);
static_assert(class_within(160) == 8 && class_within(159) == 7 && class_within(176) == 8);

}  // namespace weft::shm
