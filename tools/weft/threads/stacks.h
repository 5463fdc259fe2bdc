// SPDX-License-Identifier: Apache-2.0
// The stacks of threads that wait, by elfutils.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "symbols/symbols.h"
#include "threads/inspector.h"
#include "threads/thread_table.h"

namespace weft::tools::threads {

struct Frame {
  CodePlace place;
  bool of_weft = false;  // inside the runtime
};

class Stacks {
 public:
  virtual ~Stacks() = default;
  // The frames from the innermost one; empty where they cannot be told.
  virtual std::vector<Frame> frames(const Registers& registers) = 0;
  // Of the function that begins at `address`.
  virtual CodePlace place(uint64_t address) = 0;
};

// Null: the system has no library for it (symbols.h, kNoLines).
std::unique_ptr<Stacks> read_stacks(Inspector& process);

}  // namespace weft::tools::threads
