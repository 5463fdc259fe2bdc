// SPDX-License-Identifier: Apache-2.0
#include "core/budget/job_token_plan.h"

#include <algorithm>

namespace weft::core {

JobTokenPlan::Change JobTokenPlan::tick(const Look& now) noexcept {
  Change change;
  const int unused = std::max(0, now.tokens + 1 - now.let_go - now.beyond);
  const int lacking = now.wanted - now.let_go;
  ticks_of_turn_ = now.tokens > 0 ? ticks_of_turn_ + 1 : 0;
  if (lacking < 0) offered_ = 0;
  if (ticks_to_let_others_ > 0) {
    --ticks_to_let_others_;
  } else if (lacking > 0 && offered_ == 0) {
    change.let_go = std::min(unused, lacking);
    change.take = lacking - change.let_go;
  }
  const int left = unused - change.let_go;
  change.give_back = std::min(left, unused_);
  unused_ = left - change.give_back;
  if (offered_ > 0) {
    offered_ = std::max(0, offered_ - change.give_back);
    if (offered_ == 0) ticks_to_let_others_ = kTicksToLetOthers;
    return change;
  }
  if (lacking >= 0) {
    surplus_ticks_ = 0;
    const int in_use = std::min(now.tokens, now.let_go - 1);
    if (ticks_of_turn_ < kTicksOfTurn || in_use <= 0 || change.let_go + change.give_back > 0) return change;
    ticks_of_turn_ = 0;
    change.take = 0;
    change.hold = offered_ = (in_use + kPartOfTurn - 1) / kPartOfTurn;
  } else {
    surplus_ = surplus_ticks_ == 0 ? -lacking : std::min(surplus_, -lacking);
    if (++surplus_ticks_ < kTicksOfSurplus) return change;
    surplus_ticks_ = 0;
    change.hold = surplus_;
  }
  unused_ += change.hold;
  return change;
}

}  // namespace weft::core
