// SPDX-License-Identifier: Apache-2.0
// Which calls weft takes, by operation, ranks and bytes: the file that WEFT_COLLECTIVES_RULES names
// (docs/explanation/collectives.md, "Rules").
#pragma once

#include <cstddef>
#include <cstdint>

#include "coll/coll.h"

namespace weft::coll {

inline constexpr const char* kOperationNames[kOperations] = {"barrier",   "bcast",     "reduce",
                                                             "allreduce", "allgather", "alltoall"};

// The rules for one group. Ranks send the object to each other as bytes.
class Choices {
 public:
  bool takes(Operation operation, size_t bytes) const noexcept {
    const Lines& lines = lines_[static_cast<int>(operation)];
    bool use = true;
    for (int i = 0; i < lines.count && lines.from[i] <= bytes; ++i) use = (lines.used >> i & 1) != 0;
    return use;
  }
  // Whether the file has lines for the operation.
  bool has_lines(Operation operation) const noexcept { return lines_[static_cast<int>(operation)].count > 0; }
  // Whether there is an operation that weft takes.
  bool any() const noexcept;

  // Adds a line: from `bytes` on weft takes the operation, or not. Returns false where there are too many lines.
  bool add(Operation operation, uint64_t bytes, bool use) noexcept;
  // Removes the operation's lines.
  void clear(Operation operation) noexcept { lines_[static_cast<int>(operation)] = {}; }
  // Leaves the operation to MPI, whatever the size.
  void leave(Operation operation) noexcept {
    clear(operation);
    add(operation, 0, false);
  }
  void leave_all() noexcept {
    for (int i = 0; i < kOperations; ++i) leave(static_cast<Operation>(i));
  }

 private:
  static constexpr int kMost = 32;
  // Sorted by bytes; bit i of `used` belongs to from[i].
  struct Lines {
    uint64_t from[kMost];
    uint32_t used;
    int32_t count;
  };
  Lines lines_[kOperations] = {};
};

// Reads what the file says for groups of that many ranks. Where the file cannot be used it warns, and leaves all to
// MPI.
Choices read_rules(const char* path, int ranks) noexcept;

}  // namespace weft::coll
