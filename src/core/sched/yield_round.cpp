// SPDX-License-Identifier: Apache-2.0
#include "core/sched/yield_round.h"

#include <algorithm>

#include "core/sched/pool.h"
#include "core/sched/work_in_sight.h"

namespace weft::core {

namespace {

// A round has some turns more than there are contexts: a few that yield to each other come round in less time than a
// carrier takes for its next switch.
constexpr int kMoreTurns = 8;

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

bool ends_round(Carrier* carrier) noexcept {
  YieldRound& round = carrier->yield_round;
  if (--round.turns_left > 0) return false;
  round.turns_left = carrier->ready.size() + kMoreTurns;
  const Pool& p = pool();
  const int count = p.carrier_count.load(std::memory_order_acquire);
  const bool near = p.nodes.several() && !carrier->is_root();
  const auto has_some = [&](Carrier* victim) {
    return victim != carrier && (!near || p.nodes.near(carrier->index, victim->index)) &&
           has_work_for(carrier, victim, near);
  };
  Carrier* victim = p.carrier(round.watched);
  const bool stands = trace_of(*victim) == round.trace && has_some(victim);
  for (int i = std::min(count, kMostPassed); i > 0 && !stands; --i) {
    if (++round.watched >= count) round.watched = 0;
    victim = p.carrier(round.watched);
    if (has_some(victim)) break;
  }
  round.trace = trace_of(*victim);
  if (stands) round.serves_first = victim;
  return stands;
}

}  // namespace weft::core
