// SPDX-License-Identifier: Apache-2.0
// Who waits for what, at one moment, as a table.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "mpi/library/waits/call.h"

namespace weft::mpi {

// Every call that waits, and since when (platform::now_ns()). None of them ends during the visit. Returns how many of
// them wait in place, or nothing where those cannot be seen.
std::optional<int> visit_waits(void (*visit)(const Call& call, int64_t began, void* argument), void* argument) noexcept;

// The calls that have waited longest, those that are alike in one row.
class Table {
 public:
  // Takes in every call that waits.
  void collect() noexcept;

  int calls() const noexcept { return calls_; }
  // Whether those that wait in place are in it.
  bool is_whole() const noexcept { return whole_; }
  // On stderr, below a line that says what it is.
  void write(const char* title) noexcept;

 private:
  static constexpr int kMostRows = 40;
  static constexpr int kNameRoom = 40;

  struct Row {
    Description what;
    const void* caller;
    int64_t began;  // of the oldest
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
