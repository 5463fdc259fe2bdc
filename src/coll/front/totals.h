// SPDX-License-Identifier: Apache-2.0
// Who took the calls of this process, over all of its communicators: for the report at the end.
#pragma once

#include <atomic>
#include <cstdint>

#include "coll/coll.h"

namespace weft::coll {

// Who took a call, and why.
enum class Fate : uint8_t {
  weft,
  early,     // MPI: the communicator has no group yet
  no_group,  // the ranks cannot share memory, or the rules leave them nothing
  rules,
  comparison,  // MPI was faster, or is being measured
  size,        // weft would need very many pieces
  data,        // of a kind that weft does not combine
};
inline constexpr int kFates = 7;

class Totals {
 public:
  // Relaxed: threads may count at the same time, and nothing else depends on the counts.
  void count(Operation operation, Fate fate) noexcept {
    calls_[static_cast<int>(operation)][static_cast<int>(fate)].fetch_add(1, std::memory_order_relaxed);
  }
  // Counts a communicator that was to get a group; `crowded`: it has more ranks than CPUs.
  void count_group(bool made, bool crowded) noexcept {
    (made ? groups_ : refused_).fetch_add(1, std::memory_order_relaxed);
    if (crowded) crowded_.fetch_add(1, std::memory_order_relaxed);
  }
  // Writes to stderr a line for each operation that was called, or that there was none.
  void say() const noexcept;

 private:
  bool say_calls(Operation operation) const noexcept;

  std::atomic<uint64_t> calls_[kOperations][kFates]{};
  std::atomic<uint64_t> groups_{0}, refused_{0}, crowded_{0};
};

// The totals of this process.
Totals& totals() noexcept;

}  // namespace weft::coll
