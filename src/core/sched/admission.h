// SPDX-License-Identifier: Apache-2.0
// Admission: where not every root may be in a parallel region at the same time (WEFT_MODE exclusive and counting), the
// other roots wait here, in the order in which they came. Their OS threads sleep, and hold no slot. With processes that
// share the node in the same mode there is one order for all (node/queue.h).
// The scheduler asks; core/budget/admission.cpp answers. Internal to core.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/sched/settings.h"

namespace weft::core {

struct Carrier;

// Why a root must look twice before it begins an outermost region; 0: it need not.
struct Turnstile {
  enum Bits : uint32_t {
    limited = 1,  // the mode is exclusive or counting
    others_turn = 2,  // the CPUs belong to other processes of the node for now (core/sched/node_budget.h)
  };
};

// Relaxed everywhere: `limited` is set before the first region of a pool, and a root that misses `others_turn` begins
// one region more.
extern std::atomic<uint32_t> g_turnstile;

// Chosen once, when the pool starts.
void set_admission(Admission admission) noexcept;

// The two bracket a root's outermost region of `calls` calls, if g_turnstile asks for it; admit() waits until the
// region may begin.
void admit(Carrier* root, int calls) noexcept;
void dismiss(Carrier* root) noexcept;

// For the monitor of a process that shares the node. admissions_pending(): whether regions are inside or wait; it is
// sequentially consistent against a root that begins to wait and then wakes the monitor. retry_admissions() lets in the
// regions that may begin.
bool admissions_pending() noexcept;
void retry_admissions() noexcept;

// In the child of a fork no region is inside, and none waits.
void forget_admissions() noexcept;

}  // namespace weft::core
