// SPDX-License-Identifier: Apache-2.0
// Where an address stands in a table of a power of two.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::base {

// A number of `Bits` bits. Fibonacci hashing: the upper bits of a product mix all bits of the address.
template <unsigned Bits>
constexpr size_t address_hash(uintptr_t address) noexcept {
  static_assert(Bits >= 1 && Bits <= 64);
  constexpr uint64_t kGolden = 0x9E3779B97F4A7C15u;
  return static_cast<size_t>((uint64_t{address} * kGolden) >> (64 - Bits));
}
template <unsigned Bits>
size_t address_hash(const void* address) noexcept {
  return address_hash<Bits>(reinterpret_cast<uintptr_t>(address));
}

}  // namespace weft::base
