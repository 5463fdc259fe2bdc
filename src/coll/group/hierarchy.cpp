// SPDX-License-Identifier: Apache-2.0
#include "coll/group/hierarchy.h"

#include <algorithm>
#include <new>
#include <numeric>
#include <tuple>

#include "base/message.h"

namespace weft::coll {

namespace {

// A rank waits for the lines of so many ranks at most, one after the other. More would take longer than another level.
constexpr int kPart = 8;

}  // namespace

void Hierarchy::make_room() noexcept {
  const auto size = static_cast<size_t>(size_);
  order_.reset(new (std::nothrow) int[size]);
  at_.reset(new (std::nothrow) int[size]);
  parts_.reset(new (std::nothrow) Part[size * kLevels]);
  if (order_ == nullptr || at_ == nullptr || parts_ == nullptr) {
    base::lacking("collectives: no memory for the tree of %d ranks", size_);
  }
  std::iota(order_.get(), order_.get() + size_, 0);
}

template <class Together>
void Hierarchy::divide(Together together) noexcept {
  for (int at = 0; at < size_; ++at) at_[order_[at]] = at;
  for (int level = 0; level < kLevels; ++level) {
    Part* parts = parts_.get() + level * size_;
    for (int begin = 0, end = 0; begin < size_; begin = end) {
      while (end < size_ && together(level, begin, end)) ++end;
      std::fill(parts + begin, parts + end, Part{begin, end});
    }
  }
}

Hierarchy::Hierarchy(int size) noexcept : size_(size) {
  make_room();
  divide([](int level, int begin, int at) {
    constexpr std::array<int, kLevels> kParts{kPart, kPart * kPart, kPart * kPart * kPart, INT32_MAX};
    return at - begin < kParts[level];
  });
}

Hierarchy::Hierarchy(int size, const Location* locations) noexcept : size_(size) {
  make_room();
  const auto key = [&](int rank) { return std::make_tuple(locations[rank].node, locations[rank].cache, rank); };
  std::sort(order_.get(), order_.get() + size, [&](int a, int b) { return key(a) < key(b); });
  divide([&](int level, int begin, int at) {
    const Location& first = locations[order_[begin]];
    const Location& other = locations[order_[at]];
    if (level > kNode) return true;
    if (first.node != other.node) return false;
    if (level == kNode) return true;
    return first.cache == other.cache && (level > 0 || at - begin < kPart);
  });
}

}  // namespace weft::coll
