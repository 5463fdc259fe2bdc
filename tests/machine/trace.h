// SPDX-License-Identifier: Apache-2.0
// The last operations of a run, in the order in which they happened.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/machine.h"

namespace weft::machine {

struct Event {
  int thread = 0;
  Operation operation = Operation::none;
  const void* place = nullptr;
  uintptr_t address = 0;
  uint64_t value = 0;
  uint32_t stale = 0;  // how many stores are newer than the one that was loaded
};

class Trace {
 public:
  void reset(size_t most) {
    ring_.assign(most, {});
    at_ = 0;
  }
  void add(const Event& event) {
    ring_[at_] = event;
    at_ = at_ + 1 < ring_.size() ? at_ + 1 : 0;
  }
  std::vector<Event> events() const;

 private:
  std::vector<Event> ring_;
  size_t at_ = 0;
};

const char* name_of(Operation operation);
// A line for each; threads by their names, or without any by numbers, as words are.
std::string text_of(const std::vector<Event>& events, const std::vector<std::string>& names = {});

}  // namespace weft::machine
