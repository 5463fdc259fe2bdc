// SPDX-License-Identifier: Apache-2.0
// A record of the monitor for each carrier: in pieces of some carriers, made when one of these is first asked for.
// Internal to core.
#pragma once

#include <array>
#include <cstddef>
#include <new>

#include "core/sched/settings.h"

namespace weft::core {

template <class Record>
class ByCarrier {
 public:
  // The first pieces are made by the thread that makes this object: most processes need no others, and a monitor that
  // allocates takes an area of memory of its own from libc, of 64 MiB of addresses.
  ByCarrier() noexcept {
    constexpr size_t kFirst = 2;
    for (size_t i = 0; i < kFirst; ++i) pieces_[i] = new (std::nothrow) Piece();
  }

  // The record of a carrier; null: there is no memory for it.
  Record* find_or_make(int index) noexcept {
    Piece*& piece = pieces_[static_cast<size_t>(index / kAtOnce)];
    if (__builtin_expect(piece == nullptr, 0)) piece = new (std::nothrow) Piece();
    return piece != nullptr ? &(*piece)[static_cast<size_t>(index % kAtOnce)] : nullptr;
  }

 private:
  static constexpr int kAtOnce = 16;
  using Piece = std::array<Record, kAtOnce>;

  std::array<Piece*, kMaxCarriers / kAtOnce> pieces_{};
};

}  // namespace weft::core
