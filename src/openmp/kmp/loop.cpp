// SPDX-License-Identifier: Apache-2.0
// KMP: worksharing loops and sections. Bounds are inclusive here; types are signed and unsigned, of 4 and 8 bytes.
#include <algorithm>
#include <type_traits>

#include "base/message.h"
#include "openmp/kmp/kmp.h"
#include "openmp/ordered.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::kmp;
using Kind = base::LoopSchedule::Kind;

namespace {

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
constexpr int32_t kMonotonic = 1 << 29;
constexpr int32_t kNonmonotonic = 1 << 30;

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

// Deals the member's part out; the iterations of the whole loop.
template <class Value>
uint64_t deal(int32_t schedule, int32_t* last, Value* lower, Value* upper, std::make_signed_t<Value>* stride,
              std::make_signed_t<Value> incr, std::make_signed_t<Value> chunk) {
  using Unsigned = std::make_unsigned_t<Value>;
  using Signed = std::make_signed_t<Value>;
  const Member* member = self();
  schedule &= ~(kMonotonic | kNonmonotonic);
  // Among the teams of the league, or among the members of the team.
  const bool distribute = schedule == kDistributeStatic || schedule == kDistributeStaticChunked;
  if (distribute) schedule = schedule == kDistributeStatic ? kStatic : kStaticChunked;
  const auto members = static_cast<uint64_t>(distribute ? member->team->league_size : member->team->size);
  const auto number = static_cast<uint64_t>(distribute ? member->team->league_number : member->number);
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
  const uint64_t each = count / members;
  const uint64_t rest = count % members;
  const uint64_t begin = number * each + (number < rest ? number : rest);
  const uint64_t end = begin + each + (number < rest ? 1 : 0);
  *stride = static_cast<Signed>(static_cast<Unsigned>(count) * static_cast<Unsigned>(incr));
  if (last != nullptr) *last = end == count && begin < end ? 1 : 0;
  if (begin == end) {
    *lower = static_cast<Value>(static_cast<Unsigned>(*upper) + static_cast<Unsigned>(incr));
    return count;
  }
  const Value first = at(begin);
  *upper = at(end - 1);
  *lower = first;
  return count;
}

ompt_work_t work_of(const Ident* location, int32_t schedule) noexcept {
  if ((location->flags & kWorkSections) != 0) return ompt_work_sections;
  schedule &= ~(kMonotonic | kNonmonotonic);
  const bool distribute = schedule == kDistributeStatic || schedule == kDistributeStaticChunked;
  return distribute || (location->flags & kWorkDistribute) != 0 ? ompt_work_distribute : ompt_work_loop_static;
}

template <class Value>
[[gnu::always_inline]] inline void static_init(const Ident* location, int32_t schedule, int32_t* last, Value* lower,
                                               Value* upper, std::make_signed_t<Value>* stride,
                                               std::make_signed_t<Value> incr, std::make_signed_t<Value> chunk) {
  const Value end = *upper;
  const uint64_t count = deal(schedule, last, lower, upper, stride, incr, chunk);
  if (!ompt::on()) return;
  const ompt::Entry entry(WEFT_CALLER);
  Member* member = self();
  ompt::begin_work(member, work_of(location, schedule), count);
  const Value dealt = incr > 0 ? std::min(*upper, end) : std::max(*upper, end);
  if (const uint64_t mine = count > 0 ? count_of(*lower, dealt, incr) : 0; mine > 0) {
    ompt::dispatch_static(member, static_cast<uint64_t>(*lower), mine);
  }
}

template <class Value>
[[gnu::always_inline]] inline void dispatch_init(int32_t schedule, Value lower, Value upper,
                                                 std::make_signed_t<Value> incr, std::make_signed_t<Value> chunk) {
  const ompt::Entry entry(WEFT_CALLER);
  Member* member = self();
  base::LoopSchedule how{};
  how.monotonic = (schedule & kMonotonic) != 0;
  schedule &= ~(kMonotonic | kNonmonotonic);
  const bool ordered = schedule >= kOrderedStaticChunked && schedule <= kOrderedAuto;
  if (ordered) schedule -= kOrderedStaticChunked - kStaticChunked;
  uint64_t unit = chunk > 0 ? static_cast<uint64_t>(chunk) : 1;
  switch (schedule) {
    case kStatic:
    case kAuto:
      how.kind = Kind::static_;
      unit = 0;
      break;
    case kStaticChunked: how.kind = Kind::static_; break;
    case kDynamicChunked: how.kind = Kind::dynamic; break;
    case kGuidedChunked: how.kind = Kind::guided; break;
    case kRuntime: {
      const bool monotonic = how.monotonic;
      how = icvs(member).run_schedule;
      how.monotonic = how.monotonic || monotonic;
      unit = static_cast<uint64_t>(how.chunk);
      break;
    }
    default: base::fatal("__kmpc_dispatch_init: schedule %d is not supported yet", schedule);
  }
  how.monotonic = how.monotonic || ordered;
  (ordered ? begin_ordered_loop : begin_loop)(member, how, unit, count_of(lower, upper, incr));
  member->loop.base = static_cast<uint64_t>(lower);
  member->loop.step = static_cast<uint64_t>(static_cast<int64_t>(incr));
}

// Called at the end of each iteration of an ordered loop: the turn goes on by iterations.
void end_iteration() {
  Member* member = self();
  const uint64_t next = member->loop.iteration + 1;
  end_unit(member);
  member->loop.iteration = next;
  begin_unit(member, next, next + 1);
}

template <class Value>
int32_t dispatch_next(int32_t* last, Value* lower, Value* upper, std::make_signed_t<Value>* stride) {
  Member* member = self();
  Chunk chunk;
  if (!next_chunk(member, &chunk)) {
    // The interface has no call at the end of the loop: this is it. `last` keeps what the last chunk said.
    end_loop(member);
    return 0;
  }
  const LoopCursor& loop = member->loop;
  member->loop.iteration = chunk.begin;
  begin_unit(member, chunk.begin, chunk.begin + 1);
  *lower = static_cast<Value>(loop.base + chunk.begin * loop.step);
  *upper = static_cast<Value>(loop.base + (chunk.end - 1) * loop.step);
  *stride = static_cast<std::make_signed_t<Value>>(loop.step);
  if (last != nullptr) *last = chunk.last ? 1 : 0;
  return 1;
}

}  // namespace

WEFT_ABI void weft_abi___kmpc_for_static_init_4(Ident* location, int32_t, int32_t schedule, int32_t* last,
                                                int32_t* lower, int32_t* upper, int32_t* stride, int32_t incr,
                                                int32_t chunk) {
  static_init(location, schedule, last, lower, upper, stride, incr, chunk);
}
WEFT_ABI_EXPORT(__kmpc_for_static_init_4);

WEFT_ABI void weft_abi___kmpc_dispatch_init_4(Ident*, int32_t, int32_t schedule, int32_t lower, int32_t upper,
                                              int32_t incr, int32_t chunk) {
  dispatch_init(schedule, lower, upper, incr, chunk);
}
WEFT_ABI_EXPORT(__kmpc_dispatch_init_4);

WEFT_ABI int32_t weft_abi___kmpc_dispatch_next_4(Ident*, int32_t, int32_t* last, int32_t* lower, int32_t* upper,
                                                 int32_t* stride) {
  return dispatch_next(last, lower, upper, stride);
}
WEFT_ABI_EXPORT(__kmpc_dispatch_next_4);

WEFT_ABI void weft_abi___kmpc_dispatch_fini_4(Ident*, int32_t) { end_iteration(); }
WEFT_ABI_EXPORT(__kmpc_dispatch_fini_4);

WEFT_ABI void weft_abi___kmpc_for_static_init_4u(Ident* location, int32_t, int32_t schedule, int32_t* last,
                                                 uint32_t* lower, uint32_t* upper, int32_t* stride, int32_t incr,
                                                 int32_t chunk) {
  static_init(location, schedule, last, lower, upper, stride, incr, chunk);
}
WEFT_ABI_EXPORT(__kmpc_for_static_init_4u);

WEFT_ABI void weft_abi___kmpc_dispatch_init_4u(Ident*, int32_t, int32_t schedule, uint32_t lower, uint32_t upper,
                                               int32_t incr, int32_t chunk) {
  dispatch_init(schedule, lower, upper, incr, chunk);
}
WEFT_ABI_EXPORT(__kmpc_dispatch_init_4u);

WEFT_ABI int32_t weft_abi___kmpc_dispatch_next_4u(Ident*, int32_t, int32_t* last, uint32_t* lower, uint32_t* upper,
                                                  int32_t* stride) {
  return dispatch_next(last, lower, upper, stride);
}
WEFT_ABI_EXPORT(__kmpc_dispatch_next_4u);

WEFT_ABI void weft_abi___kmpc_dispatch_fini_4u(Ident*, int32_t) { end_iteration(); }
WEFT_ABI_EXPORT(__kmpc_dispatch_fini_4u);

WEFT_ABI void weft_abi___kmpc_for_static_init_8(Ident* location, int32_t, int32_t schedule, int32_t* last,
                                                int64_t* lower, int64_t* upper, int64_t* stride, int64_t incr,
                                                int64_t chunk) {
  static_init(location, schedule, last, lower, upper, stride, incr, chunk);
}
WEFT_ABI_EXPORT(__kmpc_for_static_init_8);

WEFT_ABI void weft_abi___kmpc_dispatch_init_8(Ident*, int32_t, int32_t schedule, int64_t lower, int64_t upper,
                                              int64_t incr, int64_t chunk) {
  dispatch_init(schedule, lower, upper, incr, chunk);
}
WEFT_ABI_EXPORT(__kmpc_dispatch_init_8);

WEFT_ABI int32_t weft_abi___kmpc_dispatch_next_8(Ident*, int32_t, int32_t* last, int64_t* lower, int64_t* upper,
                                                 int64_t* stride) {
  return dispatch_next(last, lower, upper, stride);
}
WEFT_ABI_EXPORT(__kmpc_dispatch_next_8);

WEFT_ABI void weft_abi___kmpc_dispatch_fini_8(Ident*, int32_t) { end_iteration(); }
WEFT_ABI_EXPORT(__kmpc_dispatch_fini_8);

WEFT_ABI void weft_abi___kmpc_for_static_init_8u(Ident* location, int32_t, int32_t schedule, int32_t* last,
                                                 uint64_t* lower, uint64_t* upper, int64_t* stride, int64_t incr,
                                                 int64_t chunk) {
  static_init(location, schedule, last, lower, upper, stride, incr, chunk);
}
WEFT_ABI_EXPORT(__kmpc_for_static_init_8u);

WEFT_ABI void weft_abi___kmpc_dispatch_init_8u(Ident*, int32_t, int32_t schedule, uint64_t lower, uint64_t upper,
                                               int64_t incr, int64_t chunk) {
  dispatch_init(schedule, lower, upper, incr, chunk);
}
WEFT_ABI_EXPORT(__kmpc_dispatch_init_8u);

WEFT_ABI int32_t weft_abi___kmpc_dispatch_next_8u(Ident*, int32_t, int32_t* last, uint64_t* lower, uint64_t* upper,
                                                  int64_t* stride) {
  return dispatch_next(last, lower, upper, stride);
}
WEFT_ABI_EXPORT(__kmpc_dispatch_next_8u);

WEFT_ABI void weft_abi___kmpc_dispatch_fini_8u(Ident*, int32_t) { end_iteration(); }
WEFT_ABI_EXPORT(__kmpc_dispatch_fini_8u);

WEFT_ABI void weft_abi___kmpc_for_static_fini(Ident*, int32_t) {
  const ompt::Entry entry(WEFT_CALLER);
  if (ompt::on()) ompt::end_work(self());
}
WEFT_ABI_EXPORT(__kmpc_for_static_fini);

WEFT_ABI void weft_abi___kmpc_dispatch_deinit(Ident*, int32_t) {}
WEFT_ABI_EXPORT(__kmpc_dispatch_deinit);
