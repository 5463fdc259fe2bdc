// SPDX-License-Identifier: Apache-2.0
// Which CPUs share a core, a cache, a memory and a socket, as /sys says.
#pragma once

#include <array>
#include <cstdint>

#include "base/small_list.h"
#include "platform/cpu_set.h"

namespace weft::platform {

enum class Level : uint8_t { threads, cores, ll_caches, numa_domains, dies, sockets };
inline constexpr int kLevels = 6;

class Topology {
 public:
  // The topology of the CPUs of `cpus`, with /sys looked up below `root` ("" for the real one). Where /sys does not
  // tell, a CPU is a core of its own, all share what is above that, and a socket is one die.
  Topology(const CpuSet& cpus, const char* root) noexcept;
  ~Topology() { order_.free_memory(); }
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  // The smallest CPU of the set that shares the core, cache ... with `cpu`, which is of the set too.
  int leader(Level level, int cpu) const noexcept { return leaders_[static_cast<size_t>(level)][cpu]; }

  // The set, socket by socket and core by core within each, smallest CPU first.
  using Order = base::SmallList<int, 64>;
  const Order& in_order() const noexcept { return order_; }

 private:
  using Leaders = std::array<int16_t, CpuSet::kMost>;
  void set_leader(Level level, const CpuSet& group, const CpuSet& cpus) noexcept;

  std::array<Leaders, kLevels> leaders_;
  Order order_;
};

}  // namespace weft::platform
