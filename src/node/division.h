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
  // Who takes part: process i may use `cpus(i)`, a CpuSet. It takes a step for each CPU of each process, and holds
  // until others come or go.
  template <class Cpus>
  void set_processes(int count, Cpus&& cpus) noexcept {
    begin();
    for (int i = 0; i < count; ++i) refine(i, cpus(i));
    end();
    count_ = count;
  }

  // `demands[i]` is that of process i. Processes are filled up evenly, by weight, as far as they want and their CPUs
  // go. Where that gives parts of a CPU, `phase`, from 0 to 65535, says whose turn it is to get a whole one: over all
  // phases each gets its part exactly. Takes some steps for each process and for each part of a CPU.
  void divide(Demand* demands, uint32_t phase) noexcept {
    fill(demands);
    round(demands, phase);
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
  // How far a process has been filled.
  struct Share {
    int64_t weight = 1;
    int wanted = 0;  // parts
    int got = 0;  // parts
    int next_class = 0;  // those before it, in order_, have no room for the process
  };

  void begin() noexcept;
  void refine(int process, const platform::CpuSet& cpus) noexcept;
  void end() noexcept;
  void fill(const Demand* demands) noexcept;
  void round(Demand* demands, uint32_t phase) noexcept;
  void press(Demand* demands) const noexcept;
  Class* class_for(int process) noexcept;
  bool comes_before(int process, int other) const noexcept;
  void sink(int at) noexcept;

  std::array<uint8_t, platform::CpuSet::kMost> class_of_;
  std::array<Class, kMostClasses> classes_;
  std::array<uint8_t, kMostClasses> order_;  // those with CPUs, the fewest users first
  int class_count_ = 0;
  int order_count_ = 0;
  int count_ = 0;
  int cpus_ = 0;
  int parts_ = 1;  // of a CPU
  std::array<Share, kMostProcesses> shares_;
  std::array<int, kMostProcesses> heap_;  // of those that can get more
  int heap_count_ = 0;
};

}  // namespace weft::node
