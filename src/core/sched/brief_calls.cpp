// SPDX-License-Identifier: Apache-2.0
#include "core/sched/brief_calls.h"

#include <utility>

#include "core/sched/pool.h"
#include "core/sched/waking.h"
#include "platform/cycles.h"

namespace weft::core {

namespace {

// Between two looks at the clock: it takes as long as a short member.
constexpr int kMembersPerLook = 8;
// What else may come in between once, as the first use of a stack.
constexpr int64_t kSlackNs = 2'000;

const void* function_of(const ParallelCall* call) noexcept { return call->function.load(std::memory_order_relaxed); }

}  // namespace

bool expects_brief(const Carrier* carrier, const ParallelCall* call) noexcept {
  // Threads that are lent to gangs come at once, or not at all.
  return carrier->brief.expects(function_of(call)) && !call->gang.load(std::memory_order_relaxed) &&
         !pool().is_oversubscribed();
}

void note_own_member(Carrier* carrier, ParallelCall* call) noexcept {
  const int64_t now = platform::now_ns();
  const int64_t took = now - std::exchange(call->published_ns, 0);
  carrier->brief.note(function_of(call), took);
  if (carrier->kept_call.call != call) return;
  carrier->kept_call.since_ns = now;
  if (took >= BriefFunctions::kBriefNs) offer_kept(carrier);
}

void note_kept_member(Carrier* carrier) noexcept {
  KeptCall& kept = carrier->kept_call;
  if (++kept.ended != 1 && kept.ended % kMembersPerLook != 0) return;
  if (platform::now_ns() - kept.since_ns > kept.ended * BriefFunctions::kBriefNs + kSlackNs) offer_kept(carrier);
}

void offer_kept(Carrier* carrier) noexcept {
  ParallelCall* call = std::exchange(carrier->kept_call, {}).call;
  carrier->brief.note_mistake(function_of(call));
  carrier->open[static_cast<size_t>(call->open_index)].offer(call);
  if (call->claimable()) notify_claimers(call, call->root.load(std::memory_order_relaxed), 2);
}

}  // namespace weft::core
