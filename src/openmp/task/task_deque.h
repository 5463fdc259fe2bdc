// SPDX-License-Identifier: Apache-2.0
// The deque of a member: it pushes and pops at the bottom, others take from the top.
// Chase and Lev, "Dynamic circular work-stealing deque" (SPAA 2005), with the orderings of Le et al.,
// "Correct and efficient work-stealing for weak memory models" (PPoPP 2013); of fixed size: a full deque
// tells the producer to run its task itself.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace weft::openmp {

struct Task;

struct TaskDeque {
  static constexpr int64_t kSize = 256;

  alignas(64) std::atomic<int64_t> top{0};
  alignas(64) std::atomic<int64_t> bottom{0};
  // Deferred tasks this member has created, and those of anybody's that it has run. Written by the member alone.
  // Release on `executed`: a thread that sees the sum complete sees what the tasks did. Not on the line of `bottom`, at
  // which those look who have nothing to do.
  alignas(64) std::atomic<uint64_t> created{0};
  std::atomic<uint64_t> executed{0};
  alignas(64) std::array<std::atomic<Task*>, kSize> ring{};

  bool push(Task* task) noexcept {
    const int64_t b = bottom.load(std::memory_order_relaxed);
    if (b - top.load(std::memory_order_acquire) >= kSize) return false;
    ring[b % kSize].store(task, std::memory_order_relaxed);
    // Release: a thief that sees the new bottom sees the task, and that it is counted.
    bottom.store(b + 1, std::memory_order_release);
    return true;
  }

  void count_created() noexcept {
    created.store(created.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void count_executed() noexcept {
    executed.store(executed.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // The task pushed last, if it lies above `floor`.
  Task* pop(int64_t floor) noexcept {
    const int64_t b = bottom.load(std::memory_order_relaxed) - 1;
    if (b < floor || b < top.load(std::memory_order_relaxed)) return nullptr;
    // Release, as both stores here: a thief that reads them sees the tasks below, as by the push.
    bottom.store(b, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    int64_t t = top.load(std::memory_order_relaxed);
    if (t < b) return ring[b % kSize].load(std::memory_order_relaxed);
    Task* task = nullptr;
    if (t == b) {
      task = ring[b % kSize].load(std::memory_order_relaxed);
      if (!top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed)) task = nullptr;
    }
    bottom.store(b + 1, std::memory_order_release);
    return task;
  }

  // The oldest task, if `wanted(task)`. The task may be gone while it is looked at; then the answer is not used.
  template <class Wanted>
  Task* steal(Wanted&& wanted) noexcept {
    int64_t t = top.load(std::memory_order_acquire);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (t >= bottom.load(std::memory_order_acquire)) return nullptr;
    Task* task = ring[t % kSize].load(std::memory_order_relaxed);
    if (task == nullptr || !wanted(task)) return nullptr;
    if (!top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed)) return nullptr;
    return task;
  }

  // For the owner; a thief may make room meanwhile.
  bool full() const noexcept {
    return bottom.load(std::memory_order_relaxed) - top.load(std::memory_order_relaxed) >= kSize;
  }

  // Hints.
  bool empty() const noexcept { return top.load(std::memory_order_relaxed) >= bottom.load(std::memory_order_relaxed); }
  int64_t size() const noexcept { return bottom.load(std::memory_order_relaxed) - top.load(std::memory_order_relaxed); }
};

}  // namespace weft::openmp
