// SPDX-License-Identifier: Apache-2.0
// Members whose deques may have tasks, so that members that look for tasks need not look at all deques: a line for each
// eight members, which as a rule run near each other. A member that pushes a task marks its deque, if it is not marked
// yet, and leaves the mark where it is: deques that fill and empty again change nothing. A member that finds a deque
// empty takes the mark away.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::openmp {

struct alignas(64) DequeMarks {
  static constexpr int kMembers = 8;
  static constexpr int groups(int members) noexcept { return (members + kMembers - 1) / kMembers; }

  // Sequentially consistent updates. Looks are relaxed: a member that has pushed, or is going to sleep, has fenced
  // before.
  std::atomic<uint32_t> members{0};
};

inline uint32_t deque_mark(int number) noexcept { return 1u << (number % DequeMarks::kMembers); }

// The first marked number below `size` for which look(number), from `from` on, around the end; or -1.
template <class Look>
int find_marked(const DequeMarks* marks, int from, int size, Look&& look) noexcept {
  const int groups = DequeMarks::groups(size);
  const int first = from / DequeMarks::kMembers;
  const uint32_t behind = ~uint32_t{0} << (from % DequeMarks::kMembers);
  // The group in which it begins is visited twice, for its upper and its lower part.
  for (int step = 0; step <= groups; ++step) {
    const int group = first + step < groups ? first + step : first + step - groups;
    uint32_t members = marks[group].members.load(std::memory_order_relaxed);
    if (step == 0) members &= behind;
    if (step == groups) members &= ~behind;
    for (; members != 0; members &= members - 1) {
      const int number = group * DequeMarks::kMembers + __builtin_ctz(members);
      if (number < size && look(number)) return number;
    }
  }
  return -1;
}

}  // namespace weft::openmp
