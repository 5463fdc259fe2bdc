// SPDX-License-Identifier: Apache-2.0
// KMP_HW_SUBSET, the variable of LLVM's and Intel's runtimes: which part of the machine the process is to use, as in
// 1s,4c@2,1t.
#pragma once

#include <array>
#include <cstdint>

#include "platform/cpu_set.h"
#include "platform/topology.h"

namespace weft::openmp {

struct HwSubset {
  // Which cores an item is about.
  enum class Kind : uint8_t { any, intel_atom, intel_core, efficiency };
  struct Item {
    platform::Level level = platform::Level::threads;
    int count = kAll;
    int offset = 0;  // how many are skipped
    Kind kind = Kind::any;
    int efficiency = 0;
  };
  static constexpr int kAll = -1;
  static constexpr int kMost = 16;

  std::array<Item, kMost> items{};
  int size = 0;
  bool absolute = false;  // numbers count in the whole machine, not in the unit around
};

// False when the text is not of the grammar.
bool parse_hw_subset(const char* text, HwSubset* subset) noexcept;

// The CPUs of `cpus` that it stands for, with /sys looked up below `root` ("" for the real one). None when there are
// fewer units than it asks for: `lacking` is then what there are too few of.
platform::CpuSet choose_cpus(const HwSubset& subset, const platform::CpuSet& cpus, const char* root,
                             const char** lacking) noexcept;

}  // namespace weft::openmp
