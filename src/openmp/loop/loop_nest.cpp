// SPDX-License-Identifier: Apache-2.0
#include "openmp/loop/loop_nest.h"

namespace weft::openmp {

namespace {

template <class Do>
auto by_type(NestedLoop::Type type, Do&& action) {
  switch (type) {
    case NestedLoop::kUint8: return action(uint8_t{});
    case NestedLoop::kInt8: return action(int8_t{});
    case NestedLoop::kUint16: return action(uint16_t{});
    case NestedLoop::kInt16: return action(int16_t{});
    case NestedLoop::kUint32: return action(uint32_t{});
    case NestedLoop::kInt32: return action(int32_t{});
    case NestedLoop::kUint64: return action(uint64_t{});
    case NestedLoop::kInt64: break;
  }
  return action(int64_t{});
}

// A number of the loop's type, wrapped and extended again.
uint64_t in_type(NestedLoop::Type type, uint64_t number) noexcept {
  return by_type(type, [number](auto zero) { return static_cast<uint64_t>(static_cast<decltype(zero)>(number)); });
}

uint64_t magnitude(int64_t step) noexcept {
  return step > 0 ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
}

}  // namespace

void NestedLoop::canonicalize() noexcept {
  const bool up = comparison == kNotEqual ? step > 0 : comparison == kLess || comparison == kLessOrEqual;
  if (comparison != kLessOrEqual && comparison != kGreaterOrEqual) {
    upper = in_type(type, upper + (up ? ~uint64_t{0} : 1));
  }
  comparison = up ? kLessOrEqual : kGreaterOrEqual;
}

uint64_t NestedLoop::first(const uint64_t* variables) const noexcept {
  return in_type(type, lower + lower_by * variables[outer]);
}

uint64_t NestedLoop::trips(const uint64_t* variables) const noexcept {
  const uint64_t from = first(variables);
  const uint64_t to = in_type(type, upper + upper_by * variables[outer]);
  const bool any = by_type(type, [=, up = is_up()](auto zero) {
    using Value = decltype(zero);
    return up ? static_cast<Value>(from) <= static_cast<Value>(to) : static_cast<Value>(from) >= static_cast<Value>(to);
  });
  if (!any) return 0;
  return (is_up() ? to - from : from - to) / magnitude(step) + 1;
}

uint64_t NestedLoop::value(uint64_t from, uint64_t index) const noexcept {
  return in_type(variable_type, from + index * static_cast<uint64_t>(step));
}

uint64_t LoopNest::count() const noexcept {
  uint64_t variables[kDeepest] = {};
  return count_inside(0, variables);
}

// Iterations of the loops from `level` inwards, where the outer ones stand at `variables`.
uint64_t LoopNest::count_inside(int level, uint64_t* variables) const noexcept {
  if (level == depth_) return 1;
  const NestedLoop& loop = loops_[level];
  const uint64_t trips = loop.trips(variables);
  if (trips == 0) return 0;
  const uint64_t first = loop.first(variables);
  if (!shapes_inner_loop(level)) {
    // The same whatever this variable is.
    variables[level] = first;
    return trips * count_inside(level + 1, variables);
  }
  uint64_t sum = 0;
  for (uint64_t i = 0; i < trips; ++i) {
    variables[level] = loop.value(first, i);
    sum += count_inside(level + 1, variables);
  }
  return sum;
}

void LoopNest::find(uint64_t index, uint64_t* variables) const noexcept {
  for (int level = 0; level < depth_; ++level) {
    const NestedLoop& loop = loops_[level];
    const uint64_t first = loop.first(variables);
    uint64_t i = 0;
    variables[level] = first;
    if (!shapes_inner_loop(level)) {
      const uint64_t each = count_inside(level + 1, variables);
      i = index / each;
      index %= each;
    } else {
      uint64_t inside = count_inside(level + 1, variables);
      while (index >= inside) {
        index -= inside;
        variables[level] = loop.value(first, ++i);
        inside = count_inside(level + 1, variables);
      }
    }
    variables[level] = loop.value(first, i);
  }
}

// Whether a bound of an inner loop depends on this one's variable.
bool LoopNest::shapes_inner_loop(int level) const noexcept {
  for (int i = level + 1; i < depth_; ++i) {
    if (loops_[i].outer == level && (loops_[i].lower_by != 0 || loops_[i].upper_by != 0)) return true;
  }
  return false;
}

}  // namespace weft::openmp
