// SPDX-License-Identifier: Apache-2.0
// The queue before parallel regions that may not all run at once (WEFT_MODE exclusive and counting), of all processes
// of the node that have the same rule and CPUs in common.
//
// What a process has inside, and its region that has waited longest, stand in its own record: it alone writes them, and
// they go with the record when the process is killed. There is no list that could be left half done. A region that
// comes draws a number; the smallest of those that wait goes in when it fits. A robust lock makes the look at all
// records and the entry one step. A process that is killed while it holds the lock has changed words of its own record
// only. A process that is stopped counts neither as inside nor as waiting until it goes on.
#pragma once

#include <cstdint>

#include "node/published.h"
#include "node/pulse.h"
#include "node/segment.h"

namespace weft::node {

class Queue {
 public:
  // Of the process whose record has this number. `pulse` is what it sees of the others.
  Queue(Segment& segment, int number, Rule rule, const platform::CpuSet& cpus, Pulse& pulse) noexcept;

  // A place in the order; for each region one.
  uint64_t draw() noexcept;

  // The rest is called by one thread at a time.

  // Whether the region of `calls` calls may begin; it counts as inside then. Else it counts as the one of this process
  // that waits longest, and the process is rung when it may be its turn. `anyway`: if it is its turn, it need not fit.
  bool enter(uint64_t ticket, int calls, bool anyway) noexcept;
  void leave(int calls) noexcept;

  // Tells the others once more what they have been told.
  void publish() noexcept;

  // Whether nobody runs in the processes that are inside; adds the CPU time that they have used.
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
