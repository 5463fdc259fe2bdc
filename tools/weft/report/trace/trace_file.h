// SPDX-License-Identifier: Apache-2.0
// What `weft trace` has written (src/observe/record/trace/writer.cpp), slice by slice.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "observe/format/events.h"

namespace weft::tools::report {

// As long as a context was on one carrier. Nanoseconds since the trace began.
struct Slice {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t opened = -1;      // of the primary: when it opened the region; -1: not known
  int64_t held = 0;         // of a wait for a critical or ordered region: how long it was in there then
  uint64_t team = 0;        // of a member; of a task: of its creator
  uint64_t iterations = 0;  // of a loop, or a region that is one
  uint64_t stolen = 0;      // of such a region
  uint32_t place = 0;       // 0: not known
  int32_t track = 0;
  int32_t context = -1;  // -1: that of the slice around it
  int32_t member = 0;
  int32_t of = 0;
  int32_t requested = 0;
  observe::Event what = observe::Event::member;
  bool paused = false;  // its context leaves the carrier at the end, and goes on later
};

// That has waited for another process.
struct Call {
  int64_t begin = 0;
  int64_t end = 0;
  int32_t context = -1;
  int32_t peer = -1;
  uint32_t name = 0;
};

struct Trace {
  struct CodePlace {
    uint64_t address = 0;
    observe::Schedule schedule = observe::Schedule::unknown;
  };
  struct Root {
    int32_t context = 0;
    int64_t began = 0;
    int64_t ended = 0;
  };

  std::vector<Slice> slices;  // by track and time; what holds another comes first
  std::vector<Call> calls;    // by time
  std::vector<CodePlace> places;  // [0] is none
  std::vector<std::string> call_names;
  std::vector<Root> roots;
  nlohmann::json run;  // what src/observe/record/process/process.cpp writes, and more
  int rank = -1;
  int ranks = 0;
  bool is_cut_off = false;  // the program was killed after it, or goes on
  uint64_t lost = 0;   // events for which there was no memory
  // How many slices and calls could not be used in full, by what is wrong with them.
  std::map<std::string, uint64_t> left_out;
};

// Throws std::runtime_error with a text for the user.
Trace read_trace(const std::filesystem::path& file);

}  // namespace weft::tools::report
