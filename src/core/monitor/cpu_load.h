// SPDX-License-Identifier: Apache-2.0
// How many CPUs the process leaves idle, and how many it gets where others want them too, for those that decide how
// many threads a library may use.
#pragma once

#include <cstdint>

namespace weft::core {

// Told by the monitor when CPUs have been idle for some ticks: how many, and how many the process uses. What the pool
// spends on looking for work counts as idle. It returns whether it wants to be told again.
using IdleWatcher = bool (*)(int idle, int busy);

// From now on `watcher` is told, until it returns false. There is one for the process. The pool has been started.
void watch_idle_cpus(IdleWatcher watcher) noexcept;

// Told by the monitor while gangs run in a process that has to share CPUs with others: how many it gets, at least one.
using ContentionWatcher = void (*)(int cpus);

// From now on `watcher` is told, for good. There is one for the process.
void watch_contention(ContentionWatcher watcher) noexcept;

// Carriers that run a context, or are about to, at this moment. A root that is between regions counts while it uses a
// CPU or holds a slot. Some 10 us for each root that does not hold one. Thread-safe.
int carriers_at_work() noexcept;

// ---- the monitor's part, internal to core ----

struct Pool;

class IdleCpus {
 public:
  // Called by the monitor at each of its ticks.
  void tick(const Pool& p) noexcept;

 private:
  static constexpr int kTicks = 2;  // that CPUs have to be idle
  static constexpr int kPause = 4;  // after a look at all threads has found them busy: it costs some 10 us per thread

  int64_t time_before_ = 0;  // 0: nobody has asked
  int64_t used_before_ = 0;
  double busy_ = 0;  // CPUs in use, the most of the last ticks
  int ticks_ = 0;
  int pause_ = 0;
};

// Whether anybody wants to know.
bool idle_cpus_watched() noexcept;

}  // namespace weft::core
