// SPDX-License-Identifier: Apache-2.0
// The count of a context's CPU time (core/sched/cpu_time.h). Internal to core.
#pragma once

#include <cstdint>

namespace weft::core {

struct CpuTime {
  enum State : uint8_t {
    unasked,  // the context has not asked for its CPU time: switches read no clock for it
    away,     // it has left its carrier: its time is `before`
    here,     // it is on a carrier: its time is what the clock of the OS thread says, plus `offset`
  };
  // Touched under the context's identity alone; handlers of signals may interrupt that. So the state is written last.
  State state = unasked;
  int64_t before = 0;  // the time of the turns that are over
  int64_t offset = 0;
};

}  // namespace weft::core
