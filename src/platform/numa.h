// SPDX-License-Identifier: Apache-2.0
// NUMA nodes: which there are, as /sys says, and the kernel's calls that say and choose where memory lies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <sys/types.h>

#include "base/small_list.h"
#include "platform/cpu_set.h"

namespace weft::platform {

// Nodes by the kernel's numbers, which may have holes.
class NodeSet {
 public:
  static constexpr int kMost = 1024;  // what Linux can be built for

  bool has(int node) const noexcept {
    return node >= 0 && node < kMost && (words_[static_cast<size_t>(node) / 64] >> (node % 64) & 1) != 0;
  }
  // A number that cannot be is not added.
  void add(int node) noexcept {
    if (node >= 0 && node < kMost) words_[static_cast<size_t>(node) / 64] |= uint64_t{1} << (node % 64);
  }
  // The smallest node of the set that is `from` or greater; -1: none.
  int next(int from) const noexcept;
  int first() const noexcept { return next(0); }
  bool empty() const noexcept { return first() < 0; }
  int count() const noexcept;
  void keep_only(const NodeSet& other) noexcept;
  bool operator==(const NodeSet&) const noexcept = default;

  // For system calls.
  void* data() noexcept { return words_.data(); }
  const void* data() const noexcept { return words_.data(); }

 private:
  std::array<uint64_t, kMost / 64> words_{};
};

// for (int node = set.first(); node >= 0; node = set.next(node + 1))

// A list as the kernel writes it, "0-3,8"; what follows that is ignored.
NodeSet parse_node_list(const char* text) noexcept;

// The same form. Returns the length of the whole text; at most `room` - 1 characters and a null are written.
size_t format_node_list(const NodeSet& set, char* text, size_t room) noexcept;

// The nodes of a machine, looked up once.
class NumaNodes {
 public:
  // With /sys looked up below `root` ("" for the real one). A machine that does not say has one node, 0, with all CPUs
  // and all memory.
  explicit NumaNodes(const char* root) noexcept;
  ~NumaNodes();
  NumaNodes(const NumaNodes&) = delete;
  NumaNodes& operator=(const NumaNodes&) = delete;

  // Whether /sys says anything: a kernel built without NUMA does not.
  bool known() const noexcept { return known_; }
  const NodeSet& online() const noexcept { return online_; }
  // Nodes may have memory alone (CXL, high bandwidth memory), or CPUs alone.
  const NodeSet& with_cpus() const noexcept { return with_cpus_; }
  const NodeSet& with_memory() const noexcept { return with_memory_; }

  // -1: not known, as that of a CPU that is offline.
  int node_of_cpu(int cpu) const noexcept { return cpu >= 0 && cpu < CpuSet::kMost ? node_of_cpu_[cpu] : -1; }
  // The CPUs of `node` that are online.
  CpuSet cpus_of(int node) const noexcept;
  // As the firmware says, 10 for a node to itself; 0: not known.
  int distance(int from, int to) const noexcept;

 private:
  void read_distances(const char* root, int node) noexcept;

  bool known_ = false;
  NodeSet online_;
  NodeSet with_cpus_;
  NodeSet with_memory_;
  std::array<int16_t, CpuSet::kMost> node_of_cpu_;
  // Row by row, in the order of the online nodes; empty where a row is missing.
  base::SmallList<uint8_t, 64> distances_;
};

// Which node the calling thread runs on, for now. 0 where the kernel does not say.
int current_node() noexcept;

// The kernel's numbers of how memory is placed, as linux/mempolicy.h has them.
enum class MemoryPolicy : int { standard = 0, preferred = 1, bind = 2, interleave = 3, local = 4, preferred_many = 5 };

// Flags of bind_memory and move_pages.
inline constexpr unsigned kStrict = 1;  // fail with EIO where pages lie elsewhere
inline constexpr unsigned kMove = 2;  // move the pages that only this process maps

// Each returns 0 or the value of errno. ENOSYS: a kernel without NUMA; ENOSYS or EPERM: a sandbox that forbids the
// call. errno itself stays as it is.

// How the calling thread's pages are placed from now on, and those of threads that it starts later.
int set_thread_policy(MemoryPolicy policy, const NodeSet& nodes) noexcept;
// `policy` without the flags of modes. Kernels may have more modes than are named above.
int get_thread_policy(int& policy, NodeSet& nodes) noexcept;
// The nodes that the calling thread may have memory on (its cpuset); policies name others in vain.
int get_allowed_nodes(NodeSet& nodes) noexcept;
// The policy of what is mapped at `address`.
int get_memory_policy(const void* address, int& policy, NodeSet& nodes) noexcept;
// Of whole pages: `begin` stands at the beginning of one, `bytes` is rounded up.
int bind_memory(void* begin, size_t bytes, MemoryPolicy policy, const NodeSet& nodes, unsigned flags) noexcept;

// On which nodes pages of `process` lie (0: the caller's): `nodes[i]` becomes the node, or the negative value of an
// errno: -ENOENT for a page that nobody has touched yet, -EFAULT for what is not mapped. Nothing is touched.
int query_pages(pid_t process, size_t count, void* const* pages, int* nodes) noexcept;
// Moves page i to `nodes[i]`; `status[i]` becomes where it is, or the negative value of an errno. EIO: pages stayed
// where they were, and `status` may be as before.
int move_pages(pid_t process, size_t count, void* const* pages, const int* nodes, int* status, unsigned flags) noexcept;

}  // namespace weft::platform
