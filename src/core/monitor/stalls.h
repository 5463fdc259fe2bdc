// SPDX-License-Identifier: Apache-2.0
// The part of the monitor that sees where work waits and no carrier comes for it, and lends OS threads: members that
// spin on each other, or sit in the kernel, must not keep from running the members that could release them. Internal to
// core.
#pragma once

#include <array>
#include <cstdint>

#include "core/monitor/by_carrier.h"
#include "core/monitor/stall_watch.h"
#include "core/sched/carrier.h"

namespace weft::core {

struct Pool;

// Work has stalled where it has waited for a whole tick and nothing has been taken from where it stands. Then threads
// are lent:
// - soon, in place of carriers that sleep in a system call;
// - as a probe (core/monitor/stall_watch.h) for the region whose calls wait, where carriers run, and for a while none
//   that could do the work has switched, claimed or ended anything;
// - late, without evidence, where the probe shows nothing for long, or where work waits very long while other work gets
//   on. When the carriers that ran before turn out to have computed, the threads are taken back, and the region has
//   more patience from then on.
class Stalls {
 public:
  explicit Stalls(Pool& p) noexcept : pool_(p) {}

  // Called at each of the monitor's ticks.
  void tick() noexcept;

  // While there is a probe, look() is called every period_ns() between ticks.
  bool probing() const noexcept { return probe_.function != nullptr && !probe_.kept; }
  int64_t period_ns() const noexcept { return watch_.period_ns(time_ns_); }
  void look() noexcept;

  // To be called where threads have been lent for another reason.
  void keep_lent() noexcept { calm_ticks_ = 0; }

  // About so many carriers the system is asked per tick what they are doing: some 8 us each.
  static constexpr int kMostAsked = 16;

 private:
  // What one tick remembers of a carrier for the next.
  struct Seen {
    bool ready_waited = false;
    const Context* root_waited = nullptr;
    uint64_t root_switches = 0;
    uint32_t ready_taken = 0;
    int bodiless_ticks = 0;
    // The claims of its open calls, open_calls of them; made with the first one and kept. Null: there have been none.
    std::array<uint64_t, kOpenCalls>* claims = nullptr;
    int open_calls = 0;

    uint64_t activity = 0;
    bool moved = false;  // it has moved since the last tick
    bool asleep = false;  // it was asleep in the kernel when that was last asked
    int looks_asleep = 0;  // so often in a row, without having moved
    int64_t quiet_since_ns = 0;  // of a root, which only does work of its own: since when it has not moved
    int64_t touched_ns = 0;  // when last no work of its list had stalled

    uint64_t probe_activity = 0;  // its activity and its progress when the probe began
    uint64_t probe_progress = 0;
    bool ran_before_probe = false;

    uint64_t loan_activity = 0;  // the same when a loan without evidence began
    uint64_t loan_progress = 0;
    bool ran_before_loan = false;
  };

  // A region whose calls wait.
  struct Target {
    ParallelCall* parallel_call = nullptr;
    const void* function = nullptr;
    const Carrier* root = nullptr;
  };

  struct Crowd {
    int asleep = 0;
    int long_asleep = 0;  // of these
    int running = 0;
  };

  // Work that is not taken for so long although carriers get on is starving: they may do what was there before, or may
  // wait for this work in turns.
  static constexpr int64_t kStarvingNs = 1'000'000'000;

  // Counts what a carrier has done; and what it has completed: for a lent thread, to begin something is not enough.
  static uint64_t activity_of(const Carrier& carrier) noexcept;
  static uint64_t progress_of(const Carrier& carrier) noexcept;
  bool runs(const Carrier& carrier) const noexcept;

  Seen& seen(int index) noexcept;
  void move_clock() noexcept;
  void see_activity() noexcept;
  int64_t quiet_ns(const Carrier* root) noexcept;

  int count_stalled() noexcept;
  int stalled_contexts(Carrier& carrier, Seen& before) noexcept;
  static constexpr size_t kMostCalled = 16;
  static void call_roots(Carrier& worker) noexcept;
  bool is_late(Carrier& carrier, Seen& before) const noexcept;
  int stalled_calls(Carrier& carrier, Seen& before) noexcept;
  bool root_stalled(Carrier& carrier, Seen& before) noexcept;
  void note_target(const ParallelCall* parallel_call, const Carrier* root) noexcept;

  bool counts(const Carrier& carrier) const noexcept;
  int idle_workers() const noexcept;
  Crowd look_at_carriers() noexcept;
  void lend(int waiting) noexcept;
  void lend_for_sleepers(const Crowd& crowd, int waiting) noexcept;
  void take_back_from_sleepers(const Crowd& crowd) noexcept;
  void lend_without_evidence(int waiting) noexcept;
  int cpus() const noexcept;
  bool lacks_tokens() const noexcept;
  int64_t patience_of(const void* function) const noexcept;
  int64_t patience_without_evidence(int lent) const noexcept;
  bool waits_long() const noexcept;
  void watch_loan(int64_t quiet_ns) noexcept;
  void judge_loan() noexcept;
  void raise_lent(int wanted) noexcept;
  void note_loan() noexcept;
  void give_up_in_vain(const Crowd& crowd) const noexcept;

  bool threads_are_out() const noexcept;
  void see_region() noexcept;
  void begin_probe() noexcept;
  void lend_to_probe(int threads) noexcept;
  void end_probe() noexcept;
  void look_at_probe() noexcept;

  Pool& pool_;
  ByCarrier<Seen> seen_;

  // CPU time of the process, divided by its running threads.
  int64_t time_ns_ = 0;
  int64_t cpu_before_ns_ = 0;
  // Real time as far as the monitor has been there: while a process is stopped its members cannot go on.
  int64_t real_ns_ = 0;
  int64_t tick_before_ns_ = 0;
  int64_t workers_quiet_since_ns_ = 0;

  Target target_;  // the first region that is found at this tick
  Target candidate_;
  uint64_t candidate_progress_ = 0;
  int64_t candidate_since_ns_ = 0;

  // The region with the probe. `kept`: there has been evidence, and the threads stay for a while.
  struct {
    ParallelCall* parallel_call = nullptr;
    const void* function = nullptr;
    const Carrier* root = nullptr;
    int lent = 0;
    bool kept = false;
    int64_t until_ns = 0;
  } probe_;
  Probe watch_;
  RegionRecords records_;

  // A loan without evidence is an experiment as well. The last one is watched: what happens after it is evidence.
  struct {
    bool watched = false;
    const void* function = nullptr;  // null: the work that waits belongs to no region
    const Carrier* root = nullptr;
    int64_t quiet_since_ns = 0;  // when nothing moved any more, before the first of the loans
  } loan_;
  Probe loan_watch_;

  int stalled_ticks_ = 0;
  int asleep_ticks_ = 0;
  int lent_for_sleepers_ = 0;  // of the threads that are lent
  int surplus_ticks_ = 0;
  int asleep_ = 0;  // at the last look
  int next_asked_ = 0;
  int calm_ticks_ = 0;
  int64_t lent_at_ns_ = 0;
  int64_t stalled_at_real_ns_ = 0;  // when work began to wait in vain, on the clock of real_ns_
  int64_t lent_at_real_ns_ = 0;  // when the last loan was made, or when work began to wait
  int64_t lent_at_cpu_ns_ = 0;  // the same in CPU time of the process
  bool waiters_seen_ = false;
  int64_t longest_quiet_ns_ = 0;  // for how long nothing has moved, of the work that waits
  int64_t starving_ns_ = 0;  // the longest that something has waited
  int64_t starving_patience_ns_ = 0;
};

}  // namespace weft::core
