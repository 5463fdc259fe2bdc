// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/progress.h"

#include "openmp/record/team.h"
#include "openmp/task/task_deque.h"

namespace weft::openmp {

namespace {

// Relaxed throughout: each word is looked at by itself, and a change that is seen late is a change all the same.
class Sum {
 public:
  template <class T>
  void add(const std::atomic<T>& word) noexcept {
    // Not a plain sum: what one word gains another one may lose.
    sum_ = sum_ * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(word.load(std::memory_order_relaxed));
  }
  uint64_t get() const noexcept { return sum_; }

 private:
  uint64_t sum_ = 0;
};

void add_loop(Sum& sum, const Workshare& share) noexcept {
  sum.add(share.state);
  sum.add(share.left);
  sum.add(share.next);
  sum.add(share.turn);
  // Acquire: the table has at least as many entries.
  const int capacity = share.capacity.load(std::memory_order_acquire);
  const ChunkRange* ranges = share.ranges.load(std::memory_order_relaxed);
  for (int i = 0; i < capacity; ++i) sum.add(ranges[i].word());
}

}  // namespace

uint64_t progress_of(const core::ParallelCall& parallel_call) noexcept {
  const auto& team = static_cast<const Team&>(parallel_call);
  Sum sum;
  sum.add(team.barrier.arrived);
  sum.add(team.barrier.passed);
  sum.add(team.loops.next_single);
  for (const Workshare& share : team.loops.ring) add_loop(sum, share);
  add_loop(sum, team.loops.region);
  if (!team.tasks.tasked.load(std::memory_order_relaxed)) return sum.get();
  sum.add(team.tasks.executed);
  const int capacity = team.members.capacity.load(std::memory_order_acquire);
  const std::atomic<TaskDeque*>* deques = team.members.deques.load(std::memory_order_relaxed);
  for (int i = 0; i < capacity; ++i) {
    const TaskDeque* deque = deques[i].load(std::memory_order_acquire);
    if (deque == nullptr) continue;
    sum.add(deque->executed);
    sum.add(deque->pushes());
    sum.add(deque->thefts());
  }
  return sum.get();
}

}  // namespace weft::openmp
