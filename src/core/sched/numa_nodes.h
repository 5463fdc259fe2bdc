// SPDX-License-Identifier: Apache-2.0
// On which NUMA node each carrier has last been seen by its own thread. Memory of a region's primary is mostly near it,
// so its members had better be. Internal to core.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace weft::core {

// Numbers of nodes as the kernel has them; -1: not known.
int current_numa_node() noexcept;
// The highest number of a node with CPUs; 0 where there is one, or the system does not say.
int highest_numa_node() noexcept;

// Relaxed throughout: each word is a guess about a thread that the kernel may move at any time.
template <int N>
class CarrierNumaNodes {
 public:
  explicit CarrierNumaNodes(int highest) noexcept : highest_(highest) {}

  int highest() const noexcept { return highest_; }
  // Where there is one node, nothing below is of use.
  bool several() const noexcept { return highest_ > 0; }

  int of(int carrier) const noexcept { return node_of_[at(carrier)].load(std::memory_order_relaxed) - 1; }
  // By the carrier's thread. Others keep the line while nothing changes.
  void note(int carrier, int node) noexcept {
    std::atomic<int16_t>& word = node_of_[at(carrier)];
    const auto wanted = static_cast<int16_t>(node + 1);
    if (word.load(std::memory_order_relaxed) != wanted) word.store(wanted, std::memory_order_relaxed);
  }

  // Whether nothing is known against it.
  bool near(int carrier, int other) const noexcept {
    const int a = of(carrier);
    const int b = of(other);
    return a == b || a < 0 || b < 0;
  }

 private:
  static size_t at(int carrier) noexcept {
    assert(carrier >= 0 && carrier < N);
    return static_cast<size_t>(carrier);
  }

  const int highest_;
  alignas(64) std::array<std::atomic<int16_t>, N> node_of_{};  // one more than the node
};

}  // namespace weft::core
