// SPDX-License-Identifier: Apache-2.0
// KMP: nests of loops that are collapsed by calls, those too where an inner bound depends on an outer loop's variable.
#include <type_traits>

#include "base/message.h"
#include "base/small_list.h"
#include "openmp/kmp/kmp.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

// kmp_collapse.h: comparison_t, loop_type_t.
enum Comparison : int32_t { kLessOrEqual, kGreaterOrEqual, kNotEqual, kLess, kGreater };
enum LoopType : int32_t { kUint8, kInt8, kUint16, kInt16, kUint32, kInt32, kUint64, kInt64 };

// One loop: from lower + lower_by * v to upper + upper_by * v, where v is the variable of the loop `outer`
// (bounds_info_t). Numbers stand in 64 bits, extended from their type.
struct Loop {
  LoopType type;
  LoopType variable_type;
  Comparison comparison;
  int32_t outer;
  uint64_t lower;
  uint64_t lower_by;
  uint64_t upper;
  uint64_t upper_by;
  int64_t step;
  uint64_t count;
};

template <class Do>
auto by_type(LoopType type, Do&& action) {
  switch (type) {
    case kUint8: return action(uint8_t{});
    case kInt8: return action(int8_t{});
    case kUint16: return action(uint16_t{});
    case kInt16: return action(int16_t{});
    case kUint32: return action(uint32_t{});
    case kInt32: return action(int32_t{});
    case kUint64: return action(uint64_t{});
    case kInt64: break;
  }
  return action(int64_t{});
}

// A number of the loop's type, wrapped and extended again.
uint64_t in_type(LoopType type, uint64_t number) noexcept {
  return by_type(type, [number](auto zero) { return static_cast<uint64_t>(static_cast<decltype(zero)>(number)); });
}

uint64_t magnitude(int64_t step) noexcept {
  return step > 0 ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
}

// To bounds that are inclusive.
void canonicalize(Loop& loop) noexcept {
  const bool up =
      loop.comparison == kNotEqual ? loop.step > 0 : loop.comparison == kLess || loop.comparison == kLessOrEqual;
  if (loop.comparison != kLessOrEqual && loop.comparison != kGreaterOrEqual) {
    loop.upper = in_type(loop.type, loop.upper + (up ? ~uint64_t{0} : 1));
  }
  loop.comparison = up ? kLessOrEqual : kGreaterOrEqual;
}

// The first value of a loop whose outer loops stand at `variables`; and how many it takes.
uint64_t first_of(const Loop& loop, const uint64_t* variables) noexcept {
  return in_type(loop.type, loop.lower + loop.lower_by * variables[loop.outer]);
}

uint64_t count_of(const Loop& loop, const uint64_t* variables) noexcept {
  const uint64_t lower = first_of(loop, variables);
  const uint64_t upper = in_type(loop.type, loop.upper + loop.upper_by * variables[loop.outer]);
  const bool up = loop.comparison == kLessOrEqual;
  const bool any = by_type(loop.type, [=](auto zero) {
    using Value = decltype(zero);
    return up ? static_cast<Value>(lower) <= static_cast<Value>(upper)
              : static_cast<Value>(lower) >= static_cast<Value>(upper);
  });
  if (!any) return 0;
  return (up ? upper - lower : lower - upper) / magnitude(loop.step) + 1;
}

uint64_t value_at(const Loop& loop, uint64_t first, uint64_t index) noexcept {
  return in_type(loop.variable_type, first + index * static_cast<uint64_t>(loop.step));
}

class Nest {
 public:
  Nest(const Loop* loops, int depth) noexcept : loops_(loops), depth_(depth) {}

  // Iterations of the loops from `level` inwards, where the outer ones stand at `variables`.
  uint64_t count(int level, uint64_t* variables) const noexcept {
    if (level == depth_) return 1;
    const uint64_t trips = count_of(loops_[level], variables);
    if (trips == 0) return 0;
    if (!is_looked_at(level)) {
      // The same whatever this variable is.
      variables[level] = first_of(loops_[level], variables);
      return trips * count(level + 1, variables);
    }
    uint64_t sum = 0;
    const uint64_t first = first_of(loops_[level], variables);
    for (uint64_t i = 0; i < trips; ++i) {
      variables[level] = value_at(loops_[level], first, i);
      sum += count(level + 1, variables);
    }
    return sum;
  }

  // Where iteration `index` of all stands.
  void find(uint64_t index, uint64_t* variables) const noexcept {
    for (int level = 0; level < depth_; ++level) {
      const uint64_t first = first_of(loops_[level], variables);
      uint64_t i = 0;
      variables[level] = first;
      if (!is_looked_at(level)) {
        const uint64_t each = count(level + 1, variables);
        i = index / each;
        index %= each;
      } else {
        for (uint64_t inside = count(level + 1, variables); index >= inside; inside = count(level + 1, variables)) {
          index -= inside;
          variables[level] = value_at(loops_[level], first, ++i);
        }
      }
      variables[level] = value_at(loops_[level], first, i);
    }
  }

 private:
  // Whether a bound of an inner loop depends on this one's variable.
  bool is_looked_at(int level) const noexcept {
    for (int i = level + 1; i < depth_; ++i) {
      if (loops_[i].outer == level && (loops_[i].lower_by != 0 || loops_[i].upper_by != 0)) return true;
    }
    return false;
  }

  const Loop* loops_;
  int depth_;
};

constexpr int kDeepest = 64;

void require_depth(int32_t depth) noexcept {
  if (depth > kDeepest) base::fatal("a nest of %d collapsed loops; at most %d are supported", depth, kDeepest);
}

}  // namespace

// How many iterations a nest has where no bound depends on another loop; each loop learns its own number.
WEFT_ABI uint64_t weft_abi___kmpc_process_loop_nest_rectang(Ident*, int32_t, Loop* loops, int32_t depth) {
  require_depth(depth);
  const uint64_t none[kDeepest] = {};
  uint64_t all = 1;
  for (int32_t i = 0; i < depth; ++i) {
    canonicalize(loops[i]);
    loops[i].count = count_of(loops[i], none);
    all *= loops[i].count;
  }
  return all;
}
WEFT_ABI_EXPORT(__kmpc_process_loop_nest_rectang);

WEFT_ABI void weft_abi___kmpc_calc_original_ivs_rectang(Ident*, uint64_t index, const Loop* loops, uint64_t* variables,
                                                        int32_t depth) {
  for (int32_t i = depth - 1; i >= 0; --i) {
    variables[i] = value_at(loops[i], loops[i].lower, index % loops[i].count);
    index /= loops[i].count;
  }
}
WEFT_ABI_EXPORT(__kmpc_calc_original_ivs_rectang);

// The member's part of any nest: one piece, from a first iteration to a last one. False when it has none.
WEFT_ABI int32_t weft_abi___kmpc_for_collapsed_init(Ident*, int32_t, Loop* loops, Loop* part, int32_t depth,
                                                    int32_t* last) {
  require_depth(depth);
  for (int32_t i = 0; i < depth; ++i) canonicalize(loops[i]);
  uint64_t variables[kDeepest] = {};
  const Nest nest(loops, depth);
  const uint64_t count = nest.count(0, variables);
  const Member* member = self();
  const auto members = static_cast<uint64_t>(member->team->size);
  const auto number = static_cast<uint64_t>(member->number);
  const uint64_t each = count / members;
  const uint64_t rest = count % members;
  const uint64_t begin = number * each + (number < rest ? number : rest);
  const uint64_t end = begin + each + (number < rest ? 1 : 0);
  if (last != nullptr) *last = begin < end && end == count ? 1 : 0;
  if (begin == end) return 0;
  const auto write = [&](uint64_t index, uint64_t Loop::* bound, uint64_t Loop::* factor) {
    nest.find(index, variables);
    for (int32_t i = 0; i < depth; ++i) {
      part[i].*bound = variables[i];
      part[i].*factor = 0;
    }
  };
  for (int32_t i = 0; i < depth; ++i) part[i] = loops[i];
  write(begin, &Loop::lower, &Loop::lower_by);
  write(end - 1, &Loop::upper, &Loop::upper_by);
  return 1;
}
WEFT_ABI_EXPORT(__kmpc_for_collapsed_init);
