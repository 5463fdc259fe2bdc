// SPDX-License-Identifier: Apache-2.0
// How many CPUs the process leaves idle, and how many it gets where others want them too, for those that decide how
// many threads a library may use.
#pragma once

#include <cstdint>

namespace weft::core {

// The monitor calls it when CPUs have been idle for some ticks: how many, and how many the process uses. Time that the
// pool spends on looking for work counts as idle. Returns whether it wants to be called again.
using IdleWatcher = bool (*)(int idle, int busy);

// From now on `watcher` is called, until it returns false. A process has one. The pool has been started.
void watch_idle_cpus(IdleWatcher watcher) noexcept;

// The monitor calls it while gangs run in a process that has to share CPUs with others: how many CPUs the process gets,
// at least one.
using ContentionWatcher = void (*)(int cpus);

// From now on `watcher` is called, for good. A process has one.
void watch_contention(ContentionWatcher watcher) noexcept;

// How many carriers run a context, or are about to, at this moment. A root between regions counts while it uses a CPU
// or holds a slot. Takes some 10 us for each root without a slot. Thread-safe.
int carriers_at_work() noexcept;

// ---- the monitor's part, internal to core ----

struct Pool;

class IdleCpus {
 public:
  // Called by the monitor at each of its ticks.
  void tick(const Pool& p) noexcept;

 private:
  static constexpr int kTicks = 2;  // for so many ticks CPUs have to be idle
  static constexpr int kPause = 4;  // ticks after a look at all threads that has found them busy: 10 us per thread

  int64_t time_before_ = 0;  // 0: there is no watcher
  int64_t used_before_ = 0;
  double busy_ = 0;  // the most CPUs in use at one of the last ticks
  int ticks_ = 0;
  int pause_ = 0;
};

// Whether there is a watcher.
bool idle_cpus_watched() noexcept;

}  // namespace weft::core
