// SPDX-License-Identifier: Apache-2.0
// Admission: where not every root may be in a parallel region at the same time (WEFT_MODE exclusive and counting),
// those that may not wait here, in the order in which they came. Their OS threads sleep, and hold no slot. With
// processes that share the node in the same mode there is one order for all (node/queue.h).
// The scheduler asks; core/budget/admission.cpp answers. Internal to core.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/sched/settings.h"

namespace weft::core {

struct Carrier;

// Why a root must look twice before it begins an outermost region. 0: it need not.
struct Turnstile {
  enum Bits : uint32_t {
    limited = 1,       // the mode is one of the two
    others_turn = 2,  // the CPUs belong to other processes of the node for now (core/sched/node_budget.h)
  };
};

// Relaxed everywhere: `limited` is set before the first region of a pool, and a root that misses the other begins a
// region more.
extern std::atomic<uint32_t> g_turnstile;

// Chosen once, when the pool starts.
void set_admission(Admission admission) noexcept;

// Brackets a root's outermost region of `calls` calls, if g_turnstile asks for it; the first waits until the region may
// begin.
void admit(Carrier* root, int calls) noexcept;
void dismiss(Carrier* root) noexcept;

// For the monitor of a process that shares the node: whether regions are inside or wait; and lets in those that may be.
// The first is a look at a moment, sequentially consistent against a root that begins to wait and wakes the monitor
// then.
bool admissions_pending() noexcept;
void retry_admissions() noexcept;

// In the child of a fork: nobody is inside, nobody waits.
void forget_admissions() noexcept;

}  // namespace weft::core
