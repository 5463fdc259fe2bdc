// SPDX-License-Identifier: Apache-2.0
#include "tcm/threads.h"

#include <utility>

#include "tcm/grants.h"
#include "tcm/pool.h"
#include "tcm/records.h"

namespace weft::tcm {

using core::GuestPart;

constinit std::atomic<int> g_primaries{0};

bool enter(Permit* permit) noexcept {
  if (permit == nullptr) return false;
  Inside& inside = t_inside;
  if (inside.depth++ > 0) return true;
  inside.permit = permit;
  (inside.has_come ? permit->primaries : permit->workers).fetch_add(1, std::memory_order_relaxed);
  if (inside.has_come) g_primaries.fetch_add(1, std::memory_order_relaxed);
  const core::PoolSide* side = pool();
  if (side == nullptr) return true;
  side->set_part(part_of_caller());
  if (inside.has_come && permit->left.load(std::memory_order_relaxed)) {
    const Locked lock;
    permit->left.store(false, std::memory_order_relaxed);
    permit->steady_ticks = 0;
    hold();
  }
  return true;
}

bool leave() noexcept {
  Inside& inside = t_inside;
  if (inside.depth == 0) return false;
  if (--inside.depth > 0) return true;
  Permit* permit = std::exchange(inside.permit, nullptr);
  const int before = (inside.has_come ? permit->primaries : permit->workers).fetch_sub(1, std::memory_order_relaxed);
  if (inside.has_come) g_primaries.fetch_sub(1, std::memory_order_relaxed);
  const core::PoolSide* side = pool();
  if (side == nullptr) return true;
  side->set_part(GuestPart::none);
  // The program's thread has got what it waited for, so mostly there is no work left for the client's workers. If it
  // opens a parallel region now, the pool's workers get those CPUs before the client has noticed.
  if (inside.has_come && before == 1 && side->roots_at_work()) {
    const Locked lock;
    if (!competes(*permit)) return true;
    permit->left.store(true, std::memory_order_relaxed);
    permit->quiet_ticks = 0;
    hold();
  }
  return true;
}

GuestPart part_of_caller() noexcept {
  if (t_inside.depth == 0) return GuestPart::none;
  return t_inside.has_come ? GuestPart::primary : GuestPart::worker;
}

}  // namespace weft::tcm
