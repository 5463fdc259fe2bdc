// SPDX-License-Identifier: Apache-2.0
// What a team keeps of its explicit tasks, beside the members' deques.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/api/records.h"
#include "openmp/record/task_inbox.h"

namespace weft::openmp {

struct TeamTasks {
  // Tasks have been pushed in this region. Set by the member that pushes the first, cleared by the primary at the end.
  alignas(64) std::atomic<bool> tasked{false};
  std::atomic<uint32_t> drained{0};  // the last barrier whose tasks were seen to have ended
  std::atomic<bool> closing{false};  // the primary has reached the end: helpers need not wait for more

  // Threads that may still touch the team, so that its region does not end: members of a persistent team that look for
  // tasks after their end, stand-ins, and threads outside of the team that make a task ready or bring an event. Not in
  // the line at which members look.
  alignas(64) std::atomic<int> helpers{0};

  // task_calls.h: the members that can be called to run tasks, and how many of those that have been called have not
  // come yet.
  alignas(64) core::ClaimSet<core::kMaxPersistentMembers> on_call;
  std::atomic<int> called{0};

  // Whether members whose deques may have tasks are marked (deque_marks.h). Constant during a region.
  std::atomic<bool> marks_filled{false};

  alignas(64) TaskInbox inbox;
  // How many detachable tasks have not ended. A thread that waits for them announces itself, fences, and looks at this.
  std::atomic<int> detached{0};
  std::atomic<bool> detachable{false};  // there have been some in this region
  std::atomic<core::Context*> event_waiter{nullptr};  // in a team of one

  // ---- stand_in.h ----
  // How many thread numbers have no active context: nobody runs tasks under them.
  std::atomic<int> unmanned{0};
  // `away`: contexts of the team that are paused. `looks`: a thread of the team looks again and again for what others
  // do. `holding_up`: members whose wait for others of the team holds up members of teams around that are not away yet.
  // Each side counts itself and then looks at the other: sequentially consistent, so one sees the other.
  std::atomic<int> away{0};
  std::atomic<bool> looks{false};
  std::atomic<int> holding_up{0};
  // The counts of TaskDeque, for tasks that contexts without a deque create and run. Release on `executed`, as there.
  std::atomic<uint64_t> created{0};
  std::atomic<uint64_t> executed{0};
};

}  // namespace weft::openmp
