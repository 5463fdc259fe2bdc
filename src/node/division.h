// SPDX-License-Identifier: Apache-2.0
// How CPUs are divided between processes that want them. A calculation and no more: every process that has the same
// numbers comes to the same result.
#pragma once

#include <array>
#include <cstdint>

#include "platform/cpu_set.h"

namespace weft::node {

inline constexpr int kMostProcesses = 256;
inline constexpr int kMostWeight = 10'000;

// What a process asks for, and what the division gives it.
struct Demand {
  int weight = 1;       // from 1 to kMostWeight
  int wanted = 0;       // CPUs it could use now
  bool missing = false;  // whether it has fewer than that
  int due = 0;          // result: how many it is to have
  bool pressed = false;  // result: somebody else misses CPUs that this one could be using
};

// Too large for a stack; its owner uses it from one thread at a time.
class Division {
 public:
  // `demands[i]` is that of the process which may use `cpus(i)`, a CpuSet. Processes are filled up evenly, by weight,
  // as far as they want and their CPUs go. Where that gives parts of a CPU, `phase`, from 0 to 65535, says whose turn
  // it is to get a whole one: over all phases each gets its part exactly.
  template <class Cpus>
  void divide(Demand* demands, int count, uint32_t phase, Cpus&& cpus) noexcept {
    begin();
    for (int i = 0; i < count; ++i) refine(i, cpus(i));
    fill(demands, count);
    round(demands, count, phase);
  }

 private:
  static constexpr int kMostClasses = 128;
  // CPUs that the same processes may use. What does not fit into the table stays in a class that it is not said to
  // be in: such a process counts on less than it could.
  struct Class {
    int cpus = 0;
    int room = 0;  // in parts of a CPU
    std::array<uint64_t, kMostProcesses / 64> users{};
    bool has(int process) const noexcept { return (users[process / 64] >> (process % 64) & 1) != 0; }
    int users_count() const noexcept;
  };

  void begin() noexcept;
  void refine(int process, const platform::CpuSet& cpus) noexcept;
  void fill(const Demand* demands, int count) noexcept;
  void round(Demand* demands, int count, uint32_t phase) noexcept;
  int class_for(int process) const noexcept;
  bool pressed(const Demand* demands, int count, int process) const noexcept;

  std::array<uint8_t, platform::CpuSet::kMost> class_of_;
  std::array<Class, kMostClasses> classes_;
  int class_count_ = 0;
  int parts_ = 1;  // of a CPU
  std::array<int, kMostProcesses> got_;  // parts
};

}  // namespace weft::node
