// SPDX-License-Identifier: Apache-2.0
#include "tcm/grants.h"

#include <algorithm>
#include <array>
#include <atomic>

#include <pthread.h>
#include <signal.h>

#include "tcm/calls.h"
#include "tcm/pool.h"
#include "tcm/records.h"
#include "tcm/threads.h"

namespace weft::tcm {

namespace {

using core::GuestLoad;

// What the pool wanted at the last ticks: a region may just be between two loops when it is looked at. Written by the
// monitor; relaxed, each is a guess.
std::array<std::atomic<int>, 4> g_wanted{};
unsigned g_ticks = 0;  // touched by the monitor alone

// Whether ticks have something to do. Relaxed: one too many or too few does no harm.
std::atomic<bool> g_busy{false};

// ---- slots of the pool that are held ----

// How many CPUs the workers of a permit use, or are about to use.
int used(const Permit& permit) noexcept {
  constexpr int kTicks = 2;
  const int inside = std::max(0, permit.workers.load(std::memory_order_relaxed));
  // Workers that have lost their permit, or have nothing to do, leave within a millisecond; only those in a task stay
  // longer.
  if (!competes(permit) || permit.left.load(std::memory_order_relaxed)) {
    return permit.quiet_ticks >= kTicks ? inside : 0;
  }
  return permit.steady_ticks >= kTicks ? inside : std::max(inside, permit.demand.granted);
}

// How many of the program's threads are inside of clients, and neither roots with a slot nor contexts of the pool.
int outsiders() noexcept {
  return std::max(0, g_primaries.load(std::memory_order_relaxed) - g_records.load.primaries - g_records.load.members);
}

// How many outsiders run. The monitor takes the most of the last ticks: it may look while one is between two calls of
// its client, and must not give that thread's CPU to another worker.
int recent_outsiders(const Permit* asker, const GuestLoad& load) noexcept {
  // The asking thread runs too. If it is not inside of a client yet, it is in no count.
  const bool uncounted = asker != nullptr && t_inside.depth == 0 && !load.caller_counted;
  const int now = outsiders() + (uncounted ? 1 : 0);
  int& most = g_records.outsiders[g_records.ticks % g_records.outsiders.size()];
  most = std::max(most, now);
  return asker != nullptr ? now : *std::max_element(g_records.outsiders.begin(), g_records.outsiders.end());
}

// Divides the CPUs among all permits. `asker`: the permit for which the caller asks; null: the caller is the monitor.
void settle(const GuestLoad& load, const Permit* asker) noexcept {
  g_records.load = load;
  const int others = std::max(0, load.roots - load.primaries - load.workers);
  int wanted = load.wanted;
  // What the pool wanted before counts only if there is a root outside of clients, which may want it again.
  for (const std::atomic<int>& before : g_wanted) {
    if (others > 0) wanted = std::max(wanted, before.load(std::memory_order_relaxed));
  }
  const int all = cpus();
  const int running = load.roots - load.workers + load.members + recent_outsiders(asker, load);
  int count = 0;
  bool busy = false;
  for (Permit* permit = g_records.permits; permit != nullptr; permit = permit->next) {
    busy = busy || permit->workers.load(std::memory_order_relaxed) > 0;
    if (!competes(*permit)) continue;
    permit->demand.fixed = permit->rigid && permit->state == State::active && permit != asker;
    g_records.demands[count++] = &permit->demand;
  }
  divide(all, std::max(0, all - running), {.roots = others, .wanted = wanted}, g_records.demands, count);
  int granted = 0;
  for (Permit* permit = g_records.permits; permit != nullptr; permit = permit->next) {
    if (!competes(*permit)) continue;
    permit->state = permit->demand.met ? State::active : State::pending;
    if (permit->demand.granted != permit->known_granted) permit->steady_ticks = 0;
    granted += permit->demand.granted;
  }
  g_records.counts.most_granted = std::max(g_records.counts.most_granted, granted);
  hold();
  g_busy.store(busy || count > 0 || g_records.held > 0, std::memory_order_relaxed);
}

}  // namespace

void hold() noexcept {
  const core::PoolSide* side = pool();
  if (side == nullptr) return;
  // Workers that are roots at the moment hold a slot already.
  int slots = outsiders() - g_records.load.workers;
  int more = 0;
  for (const Permit* permit = g_records.permits; permit != nullptr; permit = permit->next) {
    slots += used(*permit);
    if (competes(*permit)) more = std::min(more + permit->demand.most - permit->demand.granted, side->cpus());
  }
  slots = std::max(0, slots);
  if (slots == g_records.held && more == g_records.more) return;
  g_records.held = slots;
  g_records.more = more;
  side->hold(slots, more);
}

void settle_for(const Permit* asker) noexcept {
  const core::PoolSide* side = pool();
  settle(side != nullptr ? side->load() : GuestLoad{}, asker);
}

void tick(const GuestLoad& load) noexcept {
  g_wanted[g_ticks++ % g_wanted.size()].store(load.wanted, std::memory_order_relaxed);
  if (!g_busy.load(std::memory_order_relaxed)) return;
  sigset_t before;
  {
    const Locked lock;
    g_records.outsiders[++g_records.ticks % g_records.outsiders.size()] = 0;
    for (Permit* permit = g_records.permits; permit != nullptr; permit = permit->next) {
      ++permit->quiet_ticks;
      ++permit->steady_ticks;
    }
    settle(load, nullptr);
    if (find_uninformed() == nullptr) return;
    pthread_sigmask(SIG_SETMASK, &g_signals, &before);
  }
  tell();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace weft::tcm
