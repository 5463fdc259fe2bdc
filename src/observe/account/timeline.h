// SPDX-License-Identifier: Apache-2.0
// What each CPU did, snapshot by snapshot. When there is no more room each second one goes, and from then on each
// second one is taken: the memory is bounded, however long the program runs.
#pragma once

#include <cstdint>
#include <vector>

#include "observe/account/construct_tree.h"
#include "observe/account/shown.h"

namespace weft::observe {

enum class Doing : uint8_t { idle, work, runtime, wait };

class Timeline {
 public:
  explicit Timeline(int cpus);

  // At `time` (nanoseconds, the clock of the caller).
  void take(const std::vector<Shown>& seen, int64_t time);

  struct Row {
    int64_t time;
    std::vector<uint32_t> cpus;  // a node and what was done there
  };
  static ConstructId node_of(uint32_t cell) noexcept { return cell >> 2; }
  static Doing doing_of(uint32_t cell) noexcept { return static_cast<Doing>(cell & 3); }

  const std::vector<Row>& rows() const noexcept { return rows_; }

 private:
  std::vector<Row> rows_;
  size_t most_rows_;
  const size_t cpus_;
  uint32_t stride_ = 1;
  uint32_t skipped_ = 0;
};

}  // namespace weft::observe
