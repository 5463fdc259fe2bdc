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

// How many carriers a look passes by to find one that has contexts in its list.
constexpr int kMostPassed = 16;

}  // namespace

Context* take_from_standing_list(Carrier* carrier) noexcept {
  YieldRound& round = carrier->yield_round;
  if (--round.turns_left > 0) return nullptr;
  round.turns_left = carrier->ready.size() + kMoreTurns;
  const Pool& p = pool();
  const int count = p.carrier_count.load(std::memory_order_acquire);
  Carrier* victim = p.carrier(round.watched);
  Context* context = nullptr;
  // Relaxed: a context that is taken at this moment by the list's own carrier is one turn less for it.
  if (victim != carrier && victim->ready.taken() == round.taken) {
    context = victim->ready.pop_first([=](const Context* ready) { return may_take(carrier, victim, ready); });
  }
  if (context != nullptr) {
    carrier->statistics.steals.add();
  } else {
    for (int i = std::min(count, kMostPassed); i > 0; --i) {
      if (++round.watched >= count) round.watched = 0;
      victim = p.carrier(round.watched);
      if (victim != carrier && !victim->ready.empty()) break;
    }
  }
  round.taken = victim->ready.taken();
  return context;
}

}  // namespace weft::core
