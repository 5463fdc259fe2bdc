// SPDX-License-Identifier: Apache-2.0
// What a member keeps of the doacross loop nest that it is in (loop/doacross.h).
#pragma once

#include <array>
#include <cstdint>

namespace weft::openmp {

// The loops of a nest, the outermost one first.
struct DoacrossLoops {
  static constexpr int kMost = 64;
  std::array<uint64_t, kMost> counts;
  // The adapter's, where the program names iterations by the loops' variables.
  std::array<int64_t, kMost> from;
  std::array<int64_t, kMost> step;
};

}  // namespace weft::openmp
