// SPDX-License-Identifier: Apache-2.0
#include "study/textbook_barriers.h"

#include "platform/cycles.h"

namespace weft::scale {

namespace {

// Acquire: what was done before the others arrived is seen.
void await(const std::atomic<uint32_t>& word, uint32_t round) {
  while (word.load(std::memory_order_acquire) != round) platform::pause();
}

}  // namespace

void CentralBarrier::wait(int) {
  // Relaxed: it changes when all have arrived, this thread too.
  const uint32_t round = round_.load(std::memory_order_relaxed) + 1;
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) != threads_ - 1) return await(round_, round);
  // Relaxed: published by the flag.
  arrived_.store(0, std::memory_order_relaxed);
  round_.store(round, std::memory_order_release);
}

void TreeBarrier::wait(int thread) {
  Node& mine = nodes_[static_cast<size_t>(thread)];
  const uint32_t round = ++mine.round;
  for (int i = 0; i < kArrivals && kArrivals * thread + i + 1 < threads(); ++i) {
    await(mine.arrived[static_cast<size_t>(i)], round);
  }
  if (thread != 0) {
    const int below = thread - 1;
    nodes_[static_cast<size_t>(below / kArrivals)].arrived[static_cast<size_t>(below % kArrivals)].store(
        round, std::memory_order_release);
    await(mine.released, round);
  }
  for (int i = 0; i < kReleases && kReleases * thread + i + 1 < threads(); ++i) {
    nodes_[static_cast<size_t>(kReleases * thread + i + 1)].released.store(round, std::memory_order_release);
  }
}

}  // namespace weft::scale
