// SPDX-License-Identifier: Apache-2.0
// KMP: what worksharing loops have in common, those among the teams of a league included. Bounds are inclusive here;
// types are signed and unsigned, of 4 and 8 bytes.
#pragma once

#include <type_traits>

#include "base/message.h"
#include "openmp/kmp/kmp.h"
#include "openmp/loop/even_share.h"
#include "openmp/loop/ordered.h"

namespace weft::openmp::kmp {

// Values of enum sched_type that clang 19 passes.
enum Schedule : int32_t {
  kStaticChunked = 33,
  kStatic = 34,
  kDynamicChunked = 35,
  kGuidedChunked = 36,
  kRuntime = 37,
  kAuto = 38,
  kStaticBalancedChunked = 45,
  kOrderedStaticChunked = 65,  // and so on, in the order of the first six
  kOrderedAuto = 70,
  kDistributeStaticChunked = 91,
  kDistributeStatic = 92,
};
inline constexpr int32_t kMonotonic = 1 << 29;
inline constexpr int32_t kNonmonotonic = 1 << 30;

// `for (i = lower; incr > 0 ? i <= upper : i >= upper; i += incr)`, in the unsigned type of the same size.
template <class Value>
uint64_t count_of(Value lower, Value upper, std::make_signed_t<Value> incr) {
  using Unsigned = std::make_unsigned_t<Value>;
  const auto from = static_cast<Unsigned>(lower);
  const auto to = static_cast<Unsigned>(upper);
  if (incr > 0)
    return lower <= upper ? uint64_t{static_cast<Unsigned>(to - from)} / static_cast<uint64_t>(incr) + 1 : 0;
  const auto step = static_cast<Unsigned>(Unsigned{0} - static_cast<Unsigned>(incr));
  return lower >= upper ? uint64_t{static_cast<Unsigned>(from - to)} / step + 1 : 0;
}

// The caller's part of a loop, or its first part: from the bounds of all to its own. Returns the iterations of the
// whole loop.
template <class Value>
uint64_t take_static_part(const Sharers& sharers, int32_t schedule, int32_t* last, Value* lower, Value* upper,
                          std::make_signed_t<Value>* stride, std::make_signed_t<Value> incr,
                          std::make_signed_t<Value> chunk) {
  using Unsigned = std::make_unsigned_t<Value>;
  using Signed = std::make_signed_t<Value>;
  const auto [members, number] = sharers;
  const uint64_t count = count_of(*lower, *upper, incr);
  if (count == 0) {
    // The program tests its bounds once more: they stay an empty range.
    if (last != nullptr) *last = 0;
    *stride = incr;
    return 0;
  }
  const auto at = [&](uint64_t i) {
    return static_cast<Value>(static_cast<Unsigned>(*lower) + static_cast<Unsigned>(i) * static_cast<Unsigned>(incr));
  };
  if (members == 1) {
    *stride = static_cast<Signed>(static_cast<Unsigned>(count) * static_cast<Unsigned>(incr));
    if (last != nullptr) *last = 1;
    return count;
  }
  if (schedule == kStaticChunked || schedule == kStaticBalancedChunked) {
    uint64_t unit = chunk > 0 ? static_cast<uint64_t>(chunk) : 1;
    if (schedule == kStaticBalancedChunked) {
      unit = ((count + members - 1) / members + unit - 1) / unit * unit;
    }
    const uint64_t chunks = (count - 1) / unit + 1;
    *stride = static_cast<Signed>(static_cast<Unsigned>(members * unit) * static_cast<Unsigned>(incr));
    if (last != nullptr) *last = (chunks - 1) % members == number ? 1 : 0;
    // The program cuts what lies beyond the end of the loop.
    const Value first = at(number * unit);
    *upper = at(number * unit + unit - 1);
    *lower = first;
    return count;
  }
  if (schedule != kStatic && schedule != kAuto) {
    base::fatal("__kmpc_for_static_init: schedule %d is not supported yet", schedule);
  }
  const EvenShare share = even_share(count, sharers);
  *stride = static_cast<Signed>(static_cast<Unsigned>(count) * static_cast<Unsigned>(incr));
  if (last != nullptr) *last = share.end == count && !share.empty() ? 1 : 0;
  if (share.empty()) {
    *lower = static_cast<Value>(static_cast<Unsigned>(*upper) + static_cast<Unsigned>(incr));
    return count;
  }
  const Value first = at(share.begin);
  *upper = at(share.end - 1);
  *lower = first;
  return count;
}

// Inlined into what the program calls, since its caller is told to tools.
template <class Value>
[[gnu::always_inline]] inline void dispatch_init(int32_t schedule, Value lower, Value upper,
                                                 std::make_signed_t<Value> incr, std::make_signed_t<Value> chunk) {
  tool::enter([=](Member* member, auto listener, const void*) {
    base::LoopSchedule how{};
    how.monotonic = (schedule & kMonotonic) != 0;
    int32_t said = schedule & ~(kMonotonic | kNonmonotonic);
    const bool ordered = said >= kOrderedStaticChunked && said <= kOrderedAuto;
    if (ordered) said -= kOrderedStaticChunked - kStaticChunked;
    uint64_t unit = chunk > 0 ? static_cast<uint64_t>(chunk) : 1;
    switch (said) {
      case kStatic:
      case kAuto:
        how.kind = base::LoopSchedule::Kind::static_;
        unit = 0;
        break;
      case kStaticChunked: how.kind = base::LoopSchedule::Kind::static_; break;
      case kDynamicChunked: how.kind = base::LoopSchedule::Kind::dynamic; break;
      case kGuidedChunked: how.kind = base::LoopSchedule::Kind::guided; break;
      case kRuntime: {
        const bool monotonic = how.monotonic;
        how = icvs(member).run_schedule;
        how.monotonic = how.monotonic || monotonic;
        unit = static_cast<uint64_t>(how.chunk);
        break;
      }
      default: base::fatal("__kmpc_dispatch_init: schedule %d is not supported yet", said);
    }
    how.monotonic = how.monotonic || ordered;
    const uint64_t count = count_of(lower, upper, incr);
    if (ordered) {
      begin_ordered_loop(member, how, unit, count);
    } else {
      begin_loop(member, how, unit, count, false, listener);
    }
    member->loop.base = static_cast<uint64_t>(lower);
    member->loop.step = static_cast<uint64_t>(static_cast<int64_t>(incr));
  });
}

}  // namespace weft::openmp::kmp
