// SPDX-License-Identifier: Apache-2.0
// The places of a program's constructs: a node is a construct at an address of the program, within the node that it was
// met in. Nodes are never removed, so that their numbers can be published and read by anybody.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "observe/format/words.h"
#include "platform/spinlock.h"

namespace weft::observe {

// Lengths of pieces of work are counted by powers of two of nanoseconds.
inline constexpr int kLengthClasses = 40;

using ConstructId = uint32_t;

struct ConstructNode {
  ConstructId parent = 0;
  Kind kind = Kind::program;
  const void* caller = nullptr;  // the address behind the program's call
  ConstructId region = 0;  // the innermost region, this included; 0: none
  uint16_t level = 0;  // regions around it, this included
  // The largest that were seen. Relaxed: figures for a report.
  std::atomic<int> members{0};
  std::atomic<int> requested{0};
  std::atomic<Schedule> schedule{Schedule::unknown};
  std::atomic<const char*> callee{nullptr};  // of a call, where it is known: a name that stays
};

class ConstructTree {
 public:
  static constexpr uint32_t kMost = 8192;

  // The node of a construct met in `parent`; `parent` itself when there are too many, which is counted. Where the same
  // construct is around already, as in a recursion, that one.
  ConstructId child(ConstructId parent, Kind kind, const void* caller) noexcept;

  ConstructNode& operator[](ConstructId id) noexcept { return nodes_[id]; }
  const ConstructNode& operator[](ConstructId id) const noexcept { return nodes_[id]; }
  // Those below are complete. Acquire pairs with the release of child().
  uint32_t count() const noexcept { return count_.load(std::memory_order_acquire); }
  // Of regions: from now on the largest members and requests are looked for anew.
  void forget_sizes() noexcept;
  uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

 private:
  static constexpr unsigned kRecordBits = 14;  // of the hash table, twice as large as the most
  static constexpr uint32_t kRecords = 1u << kRecordBits;
  static_assert(kRecords == 2 * kMost);

  std::array<ConstructNode, kMost> nodes_{};
  std::array<ConstructId, kRecords> table_{};  // 0: free. Guarded by lock_.
  std::atomic<uint32_t> count_{1};
  std::atomic<uint64_t> lost_{0};
  platform::Spinlock lock_;
};

extern ConstructTree g_nodes;

}  // namespace weft::observe
