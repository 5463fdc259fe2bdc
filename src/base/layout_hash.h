// SPDX-License-Identifier: Apache-2.0
// Tells records of one build from those of another, for programs that read them from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace weft::base {

// FNV-1a of sizes and offsets.
constexpr uint64_t layout_hash(std::initializer_list<size_t> numbers) noexcept {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const size_t number : numbers) hash = (hash ^ number) * 0x100000001b3u;
  return hash;
}

}  // namespace weft::base
