// SPDX-License-Identifier: Apache-2.0
// What the runtime learns of a loop: how long an iteration takes, and whether its regions push explicit tasks. It
// stands in the program's record of the loop (weft_loop::learned), where regions of several threads may read and write
// it at once. Relaxed throughout: any of their values will do.
#pragma once

#include <algorithm>
#include <cstdint>

#include "weft/loop.h"

namespace weft::openmp {

class LoopCost {
 public:
  explicit LoopCost(weft_loop* loop) noexcept : loop_(loop) {}

  // Nanoseconds of one iteration; 0: not known.
  double iteration_ns() const noexcept {
    return static_cast<double>(__atomic_load_n(&loop_->learned[kCost], __ATOMIC_RELAXED)) / kUnit;
  }

  // Whether this region is to be measured: the first ones, and then one of eight, since the clock takes as long as a
  // short loop. Which one is left to chance: a program may have a loop's long regions at equal distances. The record is
  // only read here: threads that run the same loop in regions of their own would wait for its line.
  bool wants_measure() const noexcept {
    if (__atomic_load_n(&loop_->learned[kMeasured], __ATOMIC_RELAXED) < kFirst) return true;
    static constinit thread_local uint32_t t_random = 1;
    t_random = t_random * 1664525 + 1013904223;
    return t_random < UINT32_MAX / kEach;
  }

  // A member has run `iterations`, at least one, in `ns`. What was known counts three times.
  void learn(int64_t ns, uint64_t iterations) noexcept {
    const double now = std::max(static_cast<double>(ns), 1.0) * kUnit / static_cast<double>(iterations);
    const uint64_t before = __atomic_load_n(&loop_->learned[kCost], __ATOMIC_RELAXED);
    const double mean = before == 0 ? now : (3 * static_cast<double>(before) + now) / 4;
    __atomic_store_n(&loop_->learned[kCost], std::max<uint64_t>(static_cast<uint64_t>(mean), 1), __ATOMIC_RELAXED);
    const uint64_t measured = __atomic_load_n(&loop_->learned[kMeasured], __ATOMIC_RELAXED);
    if (measured < kFirst) __atomic_store_n(&loop_->learned[kMeasured], measured + 1, __ATOMIC_RELAXED);
  }

  bool pushes_tasks() const noexcept { return __atomic_load_n(&loop_->learned[kTasks], __ATOMIC_RELAXED) != 0; }
  void note_tasks() noexcept {
    if (!pushes_tasks()) __atomic_store_n(&loop_->learned[kTasks], 1, __ATOMIC_RELAXED);
  }

 private:
  static constexpr int kCost = 0;
  static constexpr int kMeasured = 1;
  static constexpr int kTasks = 2;
  static constexpr uint64_t kFirst = 4;
  static constexpr uint32_t kEach = 8;
  static constexpr double kUnit = 1024;

  weft_loop* const loop_;
};

}  // namespace weft::openmp
