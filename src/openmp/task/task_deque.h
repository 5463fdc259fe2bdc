// SPDX-License-Identifier: Apache-2.0
// The deque of a member: it pushes and pops at the bottom, others take from the top.
// Chase and Lev, "Dynamic circular work-stealing deque" (SPAA 2005), with the orderings of Le et al.,
// "Correct and efficient work-stealing for weak memory models" (PPoPP 2013). Its size is fixed: where it is full, the
// producer runs its task itself.
//
// Several tasks at once. A thief takes kSeveral tasks with one update of `top_` from a deque that holds kMany or more,
// so that many thieves do not wait for each other. The owner pops without an update while at least kSeveral older tasks
// lie in the deque: no thief reaches the task that it pops. When fewer are left, a thief might still act on the size
// that it has seen before. So the owner first changes the generation, which stands in `top_` beside the index: that
// thief's update fails. A thief that sees the new generation sees, by the owner's update, how few tasks are left, and
// takes one at most.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace weft::openmp {

struct Task;

class TaskDeque {
 public:
  static constexpr int64_t kSize = 256;
  // A thief takes kSeveral tasks where there are kMany or more, else one.
  static constexpr int kSeveral = 8;
  static constexpr int kMany = 32;
  using Loot = std::array<Task*, kSeveral>;

  // ---- by the owner ----

  bool push(Task* task) noexcept {
    const int64_t b = bottom_.load(std::memory_order_relaxed);
    if (b >= limit_ && !raise_limit(b)) return false;
    ring_[b % kSize].store(task, std::memory_order_relaxed);
    // Release: a thief that sees the new bottom sees the task, and that it is counted.
    bottom_.store(b + 1, std::memory_order_release);
    return true;
  }

  // Takes the task that was pushed last, if it lies at `floor` or above.
  Task* pop(int64_t floor) noexcept {
    const int64_t b = bottom_.load(std::memory_order_relaxed) - 1;
    if (b < floor || distance(b, top_.load(std::memory_order_relaxed)) < 0) return nullptr;
    // Release, as both stores here: a thief that reads them sees the tasks below, as by the push.
    bottom_.store(b, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    uint64_t t = top_.load(std::memory_order_relaxed);
    if (many_ && distance(b, t) < kSeveral) t = leave_one_by_one(b);
    const int32_t above = distance(b, t);
    if (above > 0) return ring_[b % kSize].load(std::memory_order_relaxed);
    Task* task = nullptr;
    if (above == 0) {
      task = ring_[b % kSize].load(std::memory_order_relaxed);
      if (!top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed)) task = nullptr;
    }
    bottom_.store(b + 1, std::memory_order_release);
    return task;
  }

  // The task that was pushed last, which a thief may be taking; null: there is none. Where pop() gives one, it is this.
  // Relaxed: the owner alone writes the bottom and the ring, and the top is a hint here.
  const Task* last() const noexcept {
    const int64_t b = bottom_.load(std::memory_order_relaxed) - 1;
    return distance(b, top_.load(std::memory_order_relaxed)) < 0 ? nullptr
                                                                 : ring_[b % kSize].load(std::memory_order_relaxed);
  }

  // Whether there is no room. A thief may make room meanwhile.
  bool full() noexcept {
    const int64_t b = bottom_.load(std::memory_order_relaxed);
    return b >= limit_ && !raise_limit(b);
  }

  // The index of the next push: tasks at this index or above have been pushed later.
  int64_t bottom() const noexcept { return bottom_.load(std::memory_order_relaxed); }

  void count_created() noexcept {
    created.store(created.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void count_executed(uint64_t tasks) noexcept {
    executed.store(executed.load(std::memory_order_relaxed) + tasks, std::memory_order_release);
  }

  // ---- by anybody ----

  // The oldest task, if `wanted(task)`. The task may be gone while it is looked at; then the answer is not used.
  template <class Wanted>
  Task* steal(Wanted&& wanted) noexcept {
    uint64_t t = top_.load(std::memory_order_acquire);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (distance(bottom_.load(std::memory_order_acquire), t) <= 0) return nullptr;
    Task* task = at(t);
    if (task == nullptr || !wanted(task)) return nullptr;
    return take(t, 1) ? task : nullptr;
  }

  // Takes the oldest task, or the kSeveral oldest ones, if the very oldest is wanted. Returns how many; loot[0] is the
  // oldest.
  template <class Wanted>
  int steal_several(Loot& loot, Wanted&& wanted) noexcept {
    uint64_t t = top_.load(std::memory_order_acquire);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const int32_t size = distance(bottom_.load(std::memory_order_acquire), t);
    if (size <= 0) return 0;
    const int count = size >= kMany ? kSeveral : 1;
    for (int i = 0; i < count; ++i) loot[static_cast<size_t>(i)] = at(t + static_cast<uint64_t>(i));
    if (loot[0] == nullptr || !wanted(loot[0])) return 0;
    return take(t, count) ? count : 0;
  }

  // Hints.
  bool empty() const noexcept { return size() <= 0; }
  int32_t size() const noexcept {
    return distance(bottom_.load(std::memory_order_relaxed), top_.load(std::memory_order_relaxed));
  }
  // A number that changes with each push.
  const std::atomic<int64_t>& pushes() const noexcept { return bottom_; }
  // A number that changes when a thief has taken a task.
  const std::atomic<uint64_t>& thefts() const noexcept { return top_; }

 private:
  static constexpr uint64_t kGeneration = uint64_t{1} << 32;

  // How many indexes `bottom` is ahead of the index in `top`; both wrap around.
  static int32_t distance(int64_t bottom, uint64_t top) noexcept {
    return static_cast<int32_t>(static_cast<uint32_t>(bottom) - static_cast<uint32_t>(top));
  }

  Task* at(uint64_t top) const noexcept {
    return ring_[static_cast<uint32_t>(top) % kSize].load(std::memory_order_relaxed);
  }

  bool take(uint64_t top, int tasks) noexcept {
    return top_.compare_exchange_strong(top, top + static_cast<uint64_t>(tasks), std::memory_order_seq_cst,
                                        std::memory_order_relaxed);
  }

  // Whether there is room for a task at `b`.
  bool raise_limit(int64_t b) noexcept {
    // Acquire: thieves have read what is going to be overwritten.
    const int32_t size = distance(b, top_.load(std::memory_order_acquire));
    if (size >= kSize) return false;
    if (size + 1 >= kMany) many_ = true;
    set_limit(b - size);
    return true;
  }

  void set_limit(int64_t oldest) noexcept { limit_ = oldest + (many_ ? kSize : kMany - 1); }

  // Starts a new generation: a thief that has seen many tasks fails. Called after the store of `b` to `bottom_`.
  uint64_t leave_one_by_one(int64_t b) noexcept {
    many_ = false;
    const uint64_t t = top_.fetch_add(kGeneration, std::memory_order_seq_cst) + kGeneration;
    set_limit(b - distance(b, t));
    return t;
  }

  // The index of the oldest task in the lower half, the generation in the upper. When the index overflows it changes
  // the generation too, which does no harm.
  alignas(64) std::atomic<uint64_t> top_{0};
  alignas(64) std::atomic<int64_t> bottom_{0};
  // The two are used by the owner alone. As long as `bottom_` is below `limit_` there is room for a task; and, where
  // `many_` is false, there are fewer than kMany. That was so when the owner last looked at `top_`, which only grows.
  // `many_`: a thief may have seen kMany tasks since the generation has changed.
  int64_t limit_ = kMany - 1;
  bool many_ = false;

 public:
  // How many deferred tasks the owner has created, and how many it has run, whoever created them. Written by the owner
  // alone. Release on `executed`: a thread that sees the sums equal sees what the tasks did. They do not lie on the
  // line of `bottom_`, at which members look that have nothing to do.
  alignas(64) std::atomic<uint64_t> created{0};
  std::atomic<uint64_t> executed{0};

 private:
  alignas(64) std::array<std::atomic<Task*>, kSize> ring_{};
};

}  // namespace weft::openmp
