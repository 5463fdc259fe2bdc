// SPDX-License-Identifier: Apache-2.0
// Planted faults in structures: the explorer has to find each.
#include <array>
#include <atomic>
#include <cstdint>

#include "programs/program.h"

namespace weft::explore {

namespace {

// A stack of numbers that are taken and put back, by a word with the first and a count of changes. Without the count a
// thread that has read what is below the first takes it for that when the first has been away and is back.
template <bool kCounts>
class Stack final : public Program {
 public:
  Stack() {
    for (uint32_t i = 1; i <= kNodes; ++i) next_[i].store(i < kNodes ? i + 1 : 0, std::memory_order_relaxed);
    head_.store(1, std::memory_order_relaxed);
  }
  void run(int thread) override {
    if (thread == 1) {
      use(pop());
    } else {
      const uint32_t one = pop();
      const uint32_t other = pop();
      if (one != 0) push(one);
      use(other);
    }
  }
  void check() override {
    std::array<int, kNodes + 1> owners{};
    for (uint32_t used : used_) ++owners[used];
    int steps = 0;
    for (uint32_t node = first(head_.load()); node != 0 && steps <= static_cast<int>(kNodes); ++steps) {
      ++owners[node];
      node = next_[node].load();
    }
    for (uint32_t i = 1; i <= kNodes; ++i) expect(owners[i] == 1, "a node is there twice, or not at all");
  }

 private:
  static constexpr uint32_t kNodes = 3;
  static uint32_t first(uint64_t head) { return static_cast<uint32_t>(head); }
  static uint64_t with(uint64_t head, uint32_t node) { return (kCounts ? (head >> 32) + 1 : 0) << 32 | node; }

  uint32_t pop() {
    uint64_t head = head_.load(std::memory_order_acquire);
    while (first(head) != 0) {
      const uint32_t next = next_[first(head)].load(std::memory_order_relaxed);
      if (head_.compare_exchange_strong(head, with(head, next), std::memory_order_acquire)) return first(head);
    }
    return 0;
  }
  void push(uint32_t node) {
    uint64_t head = head_.load(std::memory_order_relaxed);
    do {
      next_[node].store(first(head), std::memory_order_relaxed);
    } while (!head_.compare_exchange_strong(head, with(head, node), std::memory_order_release));
  }
  void use(uint32_t node) { used_[static_cast<size_t>(current_thread())] = node; }

  std::atomic<uint64_t> head_{0};
  std::array<std::atomic<uint32_t>, kNodes + 1> next_{};
  std::array<uint32_t, 3> used_{};
};

const Registered kStack({"stack", 2, make<Stack<true>>});
const Registered kStackWithoutCount({"fault_aba", 2, make<Stack<false>>, true});

}  // namespace

}  // namespace weft::explore
