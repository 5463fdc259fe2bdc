// SPDX-License-Identifier: Apache-2.0
// What the runtime's records keep for a tool; written only when there is one.
#pragma once

#include <atomic>
#include <cstdint>

#include "weft/omp-tools.h"

namespace weft::openmp {
struct Task;
}

namespace weft::openmp::tool {

struct TaskInfo {
  ompt_data_t data{};
  ompt_frame_t frame{};
  int flags = 0;
  void (*body)(Task* task) = nullptr;  // the task's own: the record's is run_reported()
  Task* below = nullptr;  // what its member ran before, on the same stack
  ompt_dispatch_chunk_t chunk{};  // of a taskloop's task
};

// Of a region that is one loop (region/loop_region.h). Relaxed: the end of the region orders the members' sums.
struct LoopTotals {
  uint64_t iterations = 0;
  bool whole = false;  // the primary took all iterations at once
  std::atomic<uint64_t> ranges{0};
  std::atomic<uint64_t> ranges_of_others{0};
  std::atomic<int32_t> members{0};
};

struct TeamInfo {
  ompt_data_t own{};
  ompt_data_t* data = &own;  // that of the region; the teams of a league share one
  const void* caller = nullptr;  // the code that opened the region
  int flags = 0;
  // The tool is told of what its members do. Without a tool, and in a region that it does not want, never set.
  bool reported = false;
  const LoopTotals* loop = nullptr;  // of a region that is one loop, once its primary has begun
};

// The worksharing construct a member is in; 0: none.
struct MemberInfo {
  int work = 0;
  uint64_t count = 0;
  const void* caller = nullptr;
  bool single = false;  // it executes a single region
  Task* top = nullptr;  // what it runs; null: the implicit task
};

}  // namespace weft::openmp::tool
