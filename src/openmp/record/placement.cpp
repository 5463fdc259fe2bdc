// SPDX-License-Identifier: Apache-2.0
#include "openmp/record/placement.h"

#include <algorithm>

namespace weft::openmp {

namespace {

// The place that is `steps` behind `from`, going round the partition.
int behind(const Partition& partition, int from, long long steps) noexcept {
  return partition.first + static_cast<int>((from - partition.first + steps) % partition.count);
}

// With more members than places each place gets as many as the others or one more, with consecutive numbers.
long long shared_step(const Placement& placement, int member) noexcept {
  return static_cast<long long>(member) * placement.parent.partition.count / placement.members;
}

// A partition cut into as many parts as there are members; the first ones are longer by one place where it does not
// come out even.
struct EvenParts {
  EvenParts(const Partition& whole, int parts) noexcept
      : first(whole.first), length(whole.count / parts), longer(whole.count % parts) {}
  Partition part(int index) const noexcept {
    return {first + index * length + std::min(index, longer), length + (index < longer ? 1 : 0)};
  }
  int part_with(int place) const noexcept {
    const int offset = place - first;
    const int in_longer = longer * (length + 1);
    return offset < in_longer ? offset / (length + 1) : longer + (offset - in_longer) / length;
  }
  int first;
  int length;
  int longer;
};

ThreadPlace spread(const Placement& placement, int member) noexcept {
  const Partition& whole = placement.parent.partition;
  if (placement.members > whole.count) {
    const int place = behind(whole, placement.parent.place, shared_step(placement, member));
    return {place, {place, 1}};
  }
  const EvenParts parts(whole, placement.members);
  const int part = (parts.part_with(placement.parent.place) + member) % placement.members;
  const Partition mine = parts.part(part);
  // The primary stays where the parent is, which need not be at the beginning.
  return {member == 0 ? placement.parent.place : mine.first, mine};
}

}  // namespace

ThreadPlace thread_place_of(const Placement& placement, int member) noexcept {
  const ThreadPlace& parent = placement.parent;
  if (parent.place < 0) return parent;
  switch (placement.kind) {
    case Placement::Kind::primary: return parent;
    case Placement::Kind::close: {
      const bool few = placement.members <= parent.partition.count;
      return {behind(parent.partition, parent.place, few ? member : shared_step(placement, member)), parent.partition};
    }
    case Placement::Kind::cyclic: return {behind(parent.partition, parent.place, member), parent.partition};
    case Placement::Kind::spread: return spread(placement, member);
  }
  return parent;
}

int rank_in_place(const Placement& placement, int member) noexcept {
  const int count = placement.parent.partition.count;
  switch (placement.kind) {
    case Placement::Kind::primary: return member;
    case Placement::Kind::cyclic: return member / std::max(count, 1);
    case Placement::Kind::close:
    case Placement::Kind::spread: break;
  }
  if (placement.members <= count) return 0;
  // The first member with the same step: the smallest number that reaches it.
  const long long step = shared_step(placement, member);
  return member - static_cast<int>((step * placement.members + count - 1) / count);
}

}  // namespace weft::openmp
