// SPDX-License-Identifier: Apache-2.0
// The queue before parallel regions that may not all run at once (WEFT_MODE exclusive and counting), of all processes
// of the node that have the same rule and CPUs in common.
//
// What a process has inside, and its region that has waited longest, stand in its own record: it alone writes them, and
// they go with the record when the process is killed. There is no list that somebody could leave half done. Whoever
// comes draws a number; the smallest of those that wait goes in when it fits. A robust lock makes a look at all records
// and going in one step; who is killed with it has changed words of its own record only.
// A process that is stopped counts neither as inside nor as waiting until it goes on.
#pragma once

#include <cstdint>

#include "node/segment.h"

namespace weft::node {

class Queue {
 public:
  Queue(Segment& segment, int number) noexcept : segment_(segment), number_(number) {}

  // A place in the order; for each region one.
  uint64_t draw() noexcept;

  // The rest is called by one thread at a time.

  // Whether the region of `calls` calls may begin; it counts as inside then. Else it counts as the one of this process
  // that waits longest, and the process is rung when it may be its turn. `anyway`: if it is its turn, it need not fit.
  bool enter(uint64_t ticket, int calls, bool anyway) noexcept;
  void leave(int calls) noexcept;

  // Whether nobody runs in the processes that are inside; adds the CPU time that they have used.
  bool others_sleep(int64_t& cpu_time) const noexcept;

 private:
  Record& me() const noexcept { return segment_.layout().records[static_cast<size_t>(number_)]; }
  template <class Visit>
  void visit_others(Visit&& visit) const noexcept;
  bool is_first(uint64_t ticket) const noexcept;
  bool fits(int calls) const noexcept;
  Record* first_other() const noexcept;

  Segment& segment_;
  const int number_;
};

}  // namespace weft::node
