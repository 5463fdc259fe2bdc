// SPDX-License-Identifier: Apache-2.0
// Machines whose cores are not all alike: which are of which type, and how they rank.
#pragma once

#include "base/small_list.h"
#include "platform/cpu_set.h"

namespace weft::platform {

class CoreKinds {
 public:
  // The kinds of the CPUs of `cpus`, with /sys looked up below `root` ("" for the real one).
  CoreKinds(const CpuSet& cpus, const char* root) noexcept;
  ~CoreKinds() { ranks_.free_memory(); }
  CoreKinds(const CoreKinds&) = delete;
  CoreKinds& operator=(const CoreKinds&) = delete;

  // Intel's hybrid processors; empty sets elsewhere.
  const CpuSet& intel_atom() const noexcept { return atom_; }
  const CpuSet& intel_core() const noexcept { return core_; }

  // How many kinds of cores the CPU's kind surpasses: 0 for the weakest, and where all are alike.
  int efficiency(int cpu) const noexcept;

 private:
  struct Rank {
    int cpu;
    int capacity;
  };
  CpuSet atom_;
  CpuSet core_;
  base::SmallList<Rank, 64> ranks_;
};

}  // namespace weft::platform
