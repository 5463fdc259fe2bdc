// SPDX-License-Identifier: Apache-2.0
// What the monitor remembers of each carrier: in pieces, made when a carrier of theirs is first asked for. Internal to
// core.
#pragma once

#include <array>
#include <cstddef>
#include <new>

#include "core/sched/settings.h"

namespace weft::core {

template <class Record>
class ByCarrier {
 public:
  // The first ones by who makes this: most processes have no others, and what the monitor allocates takes an area of
  // memory of its own from libc, of 64 MiB of addresses.
  ByCarrier() noexcept {
    constexpr size_t kFirst = 2;
    for (size_t i = 0; i < kFirst; ++i) pieces_[i] = new (std::nothrow) Piece();
  }

  // Null: there is no memory for it.
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
