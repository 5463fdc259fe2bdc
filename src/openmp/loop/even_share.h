// SPDX-License-Identifier: Apache-2.0
// The static schedule without a chunk size: one piece for each that shares the loop, sizes that differ by one at most.
#pragma once

#include <algorithm>
#include <cstdint>

#include "openmp/record/team.h"

namespace weft::openmp {

// How many share a loop, and which of them the caller is.
struct Sharers {
  uint64_t count;
  uint64_t number;
};

inline Sharers sharers_of_team(const Member* member) noexcept {
  return {static_cast<uint64_t>(member->team->size), static_cast<uint64_t>(member->number)};
}
// The teams of a league share the loop.
inline Sharers sharers_of_league(const Team* team) noexcept {
  return {static_cast<uint64_t>(team->league.size), static_cast<uint64_t>(team->league.number)};
}

// Iterations begin .. end-1.
struct EvenShare {
  uint64_t begin;
  uint64_t end;

  bool empty() const noexcept { return begin == end; }
};

// The first sharers get one iteration more where `iterations` cannot be divided.
constexpr EvenShare even_share(uint64_t iterations, const Sharers& sharers) noexcept {
  const uint64_t each = iterations / sharers.count;
  const uint64_t rest = iterations % sharers.count;
  const uint64_t begin = sharers.number * each + std::min(sharers.number, rest);
  return {begin, begin + each + (sharers.number < rest ? 1 : 0)};
}

}  // namespace weft::openmp
