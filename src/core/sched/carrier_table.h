// SPDX-License-Identifier: Apache-2.0
// The carriers of a pool by number. Internal to core.
#pragma once

#include <atomic>

namespace weft::core {

struct Carrier;

// An entry is written before it is counted, and only counted entries are read. So the table is not initialized, and a
// process touches no more of it than it has carriers.
template <int N>
class CarrierTable {
 public:
  // NOLINTNEXTLINE: see above.
  CarrierTable() noexcept {}

  // Acquire and release: a thread that sees an entry sees the carrier's fields.
  Carrier* get(int number) const noexcept { return std::atomic_ref(entries_[number]).load(std::memory_order_acquire); }
  void put(int number, Carrier* carrier) noexcept {
    std::atomic_ref(entries_[number]).store(carrier, std::memory_order_release);
  }

 private:
  mutable Carrier* entries_[N];
};

}  // namespace weft::core
