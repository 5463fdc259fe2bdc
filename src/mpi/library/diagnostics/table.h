// SPDX-License-Identifier: Apache-2.0
// Who waits for what, at one moment, as a table.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "mpi/library/diagnostics/call.h"

namespace weft::mpi {

// Calls visit() for every call that waits, with the time since when it waits (platform::now_ns()). No call ends during
// the visit. Returns how many wait in place, or nothing where calls that wait in place cannot be seen.
std::optional<int> visit_waits(void (*visit)(const Call& call, int64_t began, void* argument), void* argument) noexcept;

// The calls that have waited longest; calls that are alike share a row.
class Table {
 public:
  // Takes in every call that waits.
  void collect() noexcept;

  int calls() const noexcept { return calls_; }
  // Whether the table has the calls that wait in place.
  bool is_whole() const noexcept { return whole_; }
  // Writes the table to stderr, below a line with `title`.
  void write(const char* title) noexcept;

 private:
  static constexpr int kMostRows = 40;
  static constexpr int kNameRoom = 40;

  struct Row {
    Description what;
    const void* caller;
    int64_t began;  // when the oldest call of the row began to wait
    long long bytes;
    int calls;
    char communicator[kNameRoom];
  };

  void add(const Call& call, int64_t began) noexcept;
  Row* room_for(int64_t began) noexcept;

  bool whole_ = true;
  int calls_ = 0;
  int count_ = 0;
  std::array<Row, kMostRows> rows_;
};

}  // namespace weft::mpi
