// SPDX-License-Identifier: Apache-2.0
// What each context of a trace was in, and when that changed: its slices put together again, over all carriers.
#pragma once

#include <cstdint>
#include <vector>

#include "observe/account/shown.h"
#include "report/trace/trace_file.h"

namespace weft::tools::report {

// From where something began to where it ended, pauses included.
struct Frame {
  int64_t begin = 0;
  int64_t end = 0;
  uint32_t slice = 0;   // the first one
  uint32_t place = 0;
  int32_t parent = -1;  // the frame around it; -1: none
  int32_t last = -1;    // of a wait: the construct that was left before; of others: that they hold, the last one
  observe::Event what = observe::Event::serial;
  bool is_primary = false;  // in it the context was member 0, or a thread of the program's
};

struct Change {
  int64_t time = 0;
  int32_t context = 0;  // dense numbers
  int32_t frame = -1;   // -1: the context is in nothing
  int32_t carrier = -1;
  uint32_t number = 0;  // those of a context stay in their order
  observe::State state = observe::State::out;
  bool left = false;
  bool is_primary = false;
  bool is_root = false;
};

struct Contexts {
  std::vector<Frame> frames;    // those around a frame come before it
  std::vector<Change> changes;  // by time
  int32_t count = 0;
};

Contexts contexts_of(const Trace& trace);

}  // namespace weft::tools::report
