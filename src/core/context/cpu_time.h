// SPDX-License-Identifier: Apache-2.0
// What a context's CPU time is counted by (core/sched/cpu_time.h). Internal to core.
#pragma once

#include <cstdint>

namespace weft::core {

struct CpuTime {
  enum State : uint8_t {
    unasked,  // the context has not asked for it: switches read no clock for it
    away,     // it has left its carrier: it has used `before`
    here,     // on a carrier: it has used what the clock of the OS thread says, and `offset`
  };
  // Touched under the context's identity alone; handlers of signals may interrupt that. So the state is written last.
  State state = unasked;
  int64_t before = 0;  // of the turns that are over
  int64_t offset = 0;
};

}  // namespace weft::core
