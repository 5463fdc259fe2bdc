// SPDX-License-Identifier: Apache-2.0
// Turns and the queue: when a root of this process may begin a region.
#include <algorithm>

#include "core/sched/admission.h"
#include "core/sched/node_budget.h"
#include "core/sched/pool.h"
#include "core/sched/roots.h"
#include "core/sched/watcher.h"
#include "node/process.h"
#include "platform/cycles.h"
#include "platform/futex.h"

namespace weft::core {

namespace {

// How long a root waits for the slot that its turn promises.
constexpr int64_t kSlotNs = 4'000'000;
constexpr int64_t kBetweenTriesNs = 100'000;
// A root that has waited so long for the process's turn runs without: there are very many processes, or words in the
// segment are wrong.
constexpr int64_t kMostTurnNs = 1'000'000'000;

}  // namespace

void NodeBudget::set_others_turn(bool others_turn) noexcept {
  const bool before = (g_turnstile.load(std::memory_order_relaxed) & Turnstile::others_turn) != 0;
  if (before == others_turn) return;
  if (others_turn) {
    g_turnstile.fetch_or(Turnstile::others_turn);
  } else {
    g_turnstile.fetch_and(~uint32_t{Turnstile::others_turn});
    platform::futex_wake(g_turnstile, kMaxCarriers);
  }
}

void NodeBudget::await_turn(Pool& p, Carrier* root) noexcept {
  node::Process* const process = current();
  if (process == nullptr) return;
  release_slot(root);
  waiting_roots_.fetch_add(1, std::memory_order_relaxed);
  // The known number of missing slots may be old. It is 1 at least, since a process that misses no slot gets none.
  process->want(std::max(1, count_missing(p, *process)));
  look(p);
  wake_monitor();
  const int64_t until = platform::now_ns() + kMostTurnNs;
  for (;;) {
    const uint32_t entry = g_turnstile.load(std::memory_order_relaxed);
    const int64_t left = until - platform::now_ns();
    if ((entry & Turnstile::others_turn) == 0 || left <= 0 || left > kMostTurnNs) break;
    platform::futex_wait_for(g_turnstile, entry, left);
  }
  await_slot(*process, root);
  waiting_roots_.fetch_sub(1, std::memory_order_relaxed);
}

// Takes a slot for the root, if one becomes free in time. A process whose turn has ended gives a slot up only when the
// work on it comes to an end; until then that CPU is in use.
void NodeBudget::await_slot(node::Process& process, Carrier* root) noexcept {
  const int64_t until = platform::now_ns() + kSlotNs;
  for (;;) {
    const int slot = process.take();
    if (slot >= 0) {
      root->slot.store(slot);
      return;
    }
    const int64_t left = until - platform::now_ns();
    if (left <= 0 || left > kSlotNs) return;
    platform::futex_wait_for(g_turnstile, g_turnstile.load(std::memory_order_relaxed), std::min(left, kBetweenTriesNs));
  }
}

uint64_t NodeBudget::draw_ticket() const noexcept {
  node::Process* const process = current();
  return process != nullptr ? process->queue().draw() : 0;
}

bool NodeBudget::enter_queue(uint64_t ticket, int calls, bool anyway) const noexcept {
  node::Process* const process = current();
  return process == nullptr || process->lost() || process->queue().enter(ticket, calls, anyway);
}

void NodeBudget::leave_queue(int calls) const noexcept {
  node::Process* const process = current();
  if (process != nullptr && !process->lost()) process->queue().leave(calls);
}

bool NodeBudget::others_sleep(int64_t& cpu_time) const noexcept {
  node::Process* const process = current();
  return process == nullptr || process->lost() || process->queue().others_sleep(cpu_time);
}

}  // namespace weft::core
