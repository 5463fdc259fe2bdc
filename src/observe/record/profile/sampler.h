// SPDX-License-Identifier: Apache-2.0
// The thread that looks at all contexts again and again.
#pragma once

#include <atomic>
#include <cstdint>
#include <random>
#include <vector>

#include "observe/account/blame.h"
#include "observe/account/ledger.h"
#include "observe/account/timeline.h"
#include "observe/record/process/memory.h"
#include "observe/record/process/others.h"
#include "observe/record/process/threads.h"
#include "observe/record/profile/blocked.h"

namespace weft::observe {

class Sampler {
 public:
  // `began`: when the process did, by CLOCK_MONOTONIC, or the part of it that is looked at; what was before the start
  // is one serial part.
  Sampler(int cpus, int64_t began);

  // What threads have used until now is none of what is looked at.
  void count_threads_from_now() { threads_.begin(); }

  // False when the system refuses the thread, which calls `look_around`, if there is one, some times a second.
  bool start(void (*look_around)(void* argument) noexcept, void* argument);
  // Waits until the thread has ended; then the rest may be read. False: it does not end, or has had no memory.
  bool stop() noexcept;

  // Called by the sampler's thread alone: what is known now may be read, but for what was not told
  // (Ledger::spread_unwatched).
  void sum_up();

  Ledger& ledger() noexcept { return ledger_; }
  const Timeline& timeline() const noexcept { return timeline_; }
  const Threads& threads() const noexcept { return threads_; }
  const MemorySpread& memory() const noexcept { return memory_; }
  // CPU time that other processes have used meanwhile, in nanoseconds.
  int64_t used_by_others() const noexcept { return used_by_others_; }
  // Nanoseconds in which there was a region of before the recording, of which nothing is known.
  double unseen() const noexcept { return unseen_; }
  uint64_t snapshots() const noexcept { return snapshots_; }
  int64_t began() const noexcept { return began_; }
  int64_t last() const noexcept { return last_; }
  int cpus() const noexcept { return cpus_; }
  // OS threads that ran members, and those of the program's own that called OpenMP.
  const std::vector<int>& carriers() const noexcept { return carriers_; }
  const std::vector<int>& roots() const noexcept { return roots_; }

 private:
  void run() noexcept;
  void watch();
  void look();
  void look_around();
  void note_start();
  void look_at_memory(int64_t now);
  int64_t pause_before_next(int64_t cost) noexcept;

  const int cpus_;
  const int64_t began_;
  int64_t last_ = 0;  // when the last snapshot was taken
  int64_t settled_ = 0;
  int64_t next_memory_ = 0;  // when memory is to be looked at
  uint64_t snapshots_ = 0;
  double unseen_ = 0;
  int64_t mean_cost_ = 0;
  int64_t left_of_stratum_ = 0;
  bool out_of_memory_ = false;
  std::vector<Shown> seen_;
  std::vector<int> threads_seen_;  // of those of them that are on a CPU
  std::vector<int> carriers_;
  std::vector<int> roots_;
  Ledger ledger_;
  Blame blame_;
  Blocked blocked_;
  Timeline timeline_;
  Threads threads_;
  MemorySpread memory_;
  Others others_;
  int64_t used_by_others_ = 0;
  void (*look_around_)(void* argument) noexcept = nullptr;
  void* look_around_argument_ = nullptr;
  std::minstd_rand random_;

  enum : uint32_t { kRuns, kStops, kStopped };
  std::atomic<uint32_t> state_{kRuns};
};

}  // namespace weft::observe
