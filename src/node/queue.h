// SPDX-License-Identifier: Apache-2.0
// The queue before parallel regions that may not all run at once (WEFT_MODE exclusive and counting). It is one queue
// for all processes of the node that have the same rule and have CPUs in common.
//
// A region that comes draws a ticket; of the regions that wait, the one with the smallest ticket begins when it fits.
// The record of a process says how many of its regions are inside, and has the ticket of its region that has waited
// longest. Only the process itself writes these words, and they go with the record when the process is killed: there is
// no list that could be left half done. A robust lock makes the look at all records and the entry one step. A process
// that is killed while it holds the lock has changed only words of its own record. A process that is stopped counts
// neither as inside nor as waiting until it goes on.
#pragma once

#include <cstdint>

#include "node/published.h"
#include "node/pulse.h"
#include "node/segment.h"

namespace weft::node {

class Queue {
 public:
  // `number`: of the record of this process. `pulse`: tells which of the others are stopped.
  Queue(Segment& segment, int number, Rule rule, const platform::CpuSet& cpus, Pulse& pulse) noexcept;

  // Draws a ticket for a region.
  uint64_t draw() noexcept;

  // The functions below are called by one thread at a time.

  // Whether the region with this ticket, of `calls` calls, may begin; then it counts as inside. Otherwise it counts as
  // the region of this process that has waited longest, and the process is rung when the region may begin. `anyway`: a
  // region that is first need not fit.
  bool enter(uint64_t ticket, int calls, bool anyway) noexcept;
  void leave(int calls) noexcept;

  // Writes this process's words once more, should another process have written over them.
  void publish() noexcept;

  // Whether no thread runs in the other processes that have regions inside; adds the CPU time that these have used.
  bool others_sleep(int64_t& cpu_time) const noexcept;

 private:
  template <class Visit>
  void visit_others(Visit&& visit) const noexcept;
  bool is_first(uint64_t ticket) const noexcept;
  bool fits(int calls) const noexcept;
  Record* first_other() const noexcept;

  Segment& segment_;
  const int number_;
  const Rule rule_;
  const platform::CpuSet cpus_;
  Pulse& pulse_;
  Published<uint64_t, uint64_t> ticket_;
  Published<int, uint32_t> inside_;
  Published<int64_t, uint32_t> calls_;
};

}  // namespace weft::node
