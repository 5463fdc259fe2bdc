// SPDX-License-Identifier: Apache-2.0
// How CPUs are divided between processes that want them. This is a pure calculation: every process that has the same
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
  bool pressed = false;  // result: another process misses CPUs that this one could be using
};

// Too large for a stack; its owner uses it from one thread at a time.
class Division {
 public:
  // Says which processes take part: process i may use cpus(i), a CpuSet. Takes a step for each CPU of each process. To
  // be called again when a process comes or goes.
  template <class Cpus>
  void set_processes(int count, Cpus&& cpus) noexcept {
    begin();
    for (int i = 0; i < count; ++i) refine(i, cpus(i));
    end();
    count_ = count;
  }

  // Computes `due` and `pressed` of each process; `demands[i]` is the demand of process i. Processes are filled up
  // evenly, by weight, as far as they want and as far as there are CPUs that they may use. Where that gives parts of a
  // CPU, `phase`, from 0 to 65535, says which process gets a whole one: over all phases each gets its part exactly.
  // Takes some steps for each process and for each part of a CPU.
  void divide(Demand* demands, uint32_t phase) noexcept {
    fill(demands);
    round(demands, phase);
  }

 private:
  static constexpr int kMostClasses = 128;
  // A class: CPUs that the same processes may use. Where the table of classes is full, a class is not split any more:
  // a process that may use only some of its CPUs counts on none of them.
  struct Class {
    int cpus = 0;
    int room = 0;  // what is left of the CPUs, in parts of a CPU
    std::array<uint64_t, kMostProcesses / 64> users{};
    bool has(int process) const noexcept { return (users[process / 64] >> (process % 64) & 1) != 0; }
    int users_count() const noexcept;
  };
  // How far a process has been filled.
  struct Share {
    int64_t weight = 1;
    int wanted = 0;  // parts
    int got = 0;  // parts
    int next_class = 0;  // a place in order_: no class before it has room for the process
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
  std::array<uint8_t, kMostClasses> order_;  // the classes that have CPUs, the one with the fewest users first
  int class_count_ = 0;
  int order_count_ = 0;
  int count_ = 0;
  int cpus_ = 0;
  int parts_ = 1;  // of a CPU
  std::array<Share, kMostProcesses> shares_;
  std::array<int, kMostProcesses> heap_;  // of the processes that can get more; the one with the least is first
  int heap_count_ = 0;
};

}  // namespace weft::node
