// SPDX-License-Identifier: Apache-2.0
#include "core/sched/yield_round.h"

#include <algorithm>

#include "core/sched/pool.h"
#include "core/sched/work_in_sight.h"

namespace weft::core {

namespace {

// A round has some turns more than there are contexts: a few that yield to each other come round in less time than a
// carrier takes for its next switch. Where no carrier has had work it has twice as many: a look reads what those
// carriers write.
constexpr int kLeastMoreTurns = 8;
constexpr int kMostMoreTurns = 512;

// How many carriers a look passes by to find one that has work.
constexpr int kMostPassed = 16;

// Changes when somebody takes work of the carrier's. Relaxed: a change that is seen late is one round more.
uint64_t trace_of(const Carrier& carrier) noexcept {
  uint64_t trace =
      carrier.ready.taken() + reinterpret_cast<uintptr_t>(carrier.bodiless_ready.load(std::memory_order_relaxed));
  const int top = std::min(carrier.open_top.load(std::memory_order_acquire), kOpenCalls);
  for (int i = 0; i < top; ++i) {
    const ParallelCall* call = carrier.open[i].load(std::memory_order_acquire);
    if (call != nullptr) trace += call->claim.load(std::memory_order_relaxed);
  }
  return trace;
}

}  // namespace

bool looks_near(const Carrier* carrier) noexcept { return pool().nodes.several() && !carrier->is_root(); }

bool ends_round(Carrier* carrier) noexcept {
  YieldRound& round = carrier->yield_round;
  if (--round.turns_left > 0) return false;
  const Pool& p = pool();
  const int count = p.carrier_count.load(std::memory_order_acquire);
  const bool near = looks_near(carrier);
  const auto has_some = [&](Carrier* victim) {
    if (victim == carrier) return false;
    // From afar only what the monitor has seen stand for a whole tick.
    const bool is_far = near && !p.nodes.near(carrier->index, victim->index);
    return (!is_far || victim->stuck.load(std::memory_order_relaxed)) && has_work_for(carrier, victim, near);
  };
  Carrier* victim = p.carrier(round.watched);
  const bool stands = trace_of(*victim) == round.trace && has_some(victim);
  bool found = stands;
  for (int i = std::min(count, kMostPassed); i > 0 && !found; --i) {
    if (++round.watched >= count) round.watched = 0;
    victim = p.carrier(round.watched);
    found = has_some(victim);
  }
  round.more_turns = found ? kLeastMoreTurns : std::clamp(2 * round.more_turns, kLeastMoreTurns, kMostMoreTurns);
  round.turns_left = carrier->ready.size() + round.more_turns;
  round.trace = trace_of(*victim);
  if (stands) round.serves_first = victim;
  return stands;
}

}  // namespace weft::core
