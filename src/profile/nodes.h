// SPDX-License-Identifier: Apache-2.0
// The places of a program's constructs: a node is a construct at an address of the program, within the node that it was
// met in. Nodes are never removed, so that their numbers can be published and read by anybody.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "platform/spinlock.h"

namespace weft::profile {

enum class Kind : uint8_t {
  program,  // node 0
  serial,  // of a thread of the program's outside of regions, behind the region that `caller` opened; null: before any
  region,
  loop,
  sections,
  single,
  masked,
  taskloop,
  task,
  barrier,
  critical,
  lock,
  ordered,
  call,  // of a library: its jobs are run by the pool, or it waits for other processes
};
const char* word_of(Kind kind) noexcept;

enum class Schedule : uint8_t { unknown, fixed, dynamic, guided };
const char* word_of(Schedule schedule) noexcept;

using NodeId = uint32_t;

struct Node {
  NodeId parent = 0;
  Kind kind = Kind::program;
  const void* caller = nullptr;  // the address behind the program's call
  NodeId region = 0;  // the innermost region, this included; 0: none
  uint16_t level = 0;  // regions around it, this included
  // The largest that were seen. Relaxed: figures for a report.
  std::atomic<int> members{0};
  std::atomic<int> requested{0};
  std::atomic<Schedule> schedule{Schedule::unknown};
  std::atomic<const char*> callee{nullptr};  // of a call, where it is known: a name that stays
};

class Nodes {
 public:
  static constexpr uint32_t kMost = 8192;

  // The node of a construct met in `parent`; `parent` itself when there are too many, which is counted. Where the same
  // construct is around already, as in a recursion, that one.
  NodeId child(NodeId parent, Kind kind, const void* caller) noexcept;

  Node& operator[](NodeId id) noexcept { return nodes_[id]; }
  const Node& operator[](NodeId id) const noexcept { return nodes_[id]; }
  // Those below are complete. Acquire pairs with the release of child().
  uint32_t count() const noexcept { return count_.load(std::memory_order_acquire); }
  // Of regions: from now on the largest members and requests are looked for anew.
  void forget_sizes() noexcept;
  uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

 private:
  static constexpr unsigned kSlotBits = 14;  // of the hash table, twice as large as the most
  static constexpr uint32_t kSlots = 1u << kSlotBits;
  static_assert(kSlots == 2 * kMost);

  std::array<Node, kMost> nodes_{};
  std::array<NodeId, kSlots> table_{};  // 0: free. Guarded by lock_.
  std::atomic<uint32_t> count_{1};
  std::atomic<uint64_t> lost_{0};
  platform::Spinlock lock_;
};

extern Nodes g_nodes;

}  // namespace weft::profile
