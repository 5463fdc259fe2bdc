// SPDX-License-Identifier: Apache-2.0
// Barriers from the textbook, as controls: how they grow with the number of threads is known from real machines, and
// the simulated ones have to show it. Mellor-Crummey and Scott, Algorithms for Scalable Synchronization on
// Shared-Memory Multiprocessors, ACM TOCS 1991. libgomp's barrier is of the first kind.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

namespace weft::scale {

// Each adds to one counter; the last one turns a flag at which all look.
class CentralBarrier {
 public:
  explicit CentralBarrier(int threads) : threads_(threads) {}
  void wait(int thread);

 private:
  const int threads_;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<uint32_t> round_{0};
};

// A thread waits for up to four others, tells the one above it, and is let go by another one, which lets two go. No
// line is written by all, or looked at by many, and nothing is a read-modify-write.
class TreeBarrier {
 public:
  explicit TreeBarrier(int threads) : nodes_(static_cast<size_t>(threads)) {}
  void wait(int thread);

 private:
  static constexpr int kArrivals = 4;
  static constexpr int kReleases = 2;
  struct alignas(64) Node {
    std::array<std::atomic<uint32_t>, kArrivals> arrived{};  // by those below: in which round
    alignas(64) std::atomic<uint32_t> released{0};
    uint32_t round = 0;  // the thread's own
  };
  int threads() const { return static_cast<int>(nodes_.size()); }

  std::vector<Node> nodes_;
};

}  // namespace weft::scale
