// SPDX-License-Identifier: Apache-2.0
// The monitor's part that sees that work waits and nobody comes to fetch it, and lends OS threads: members that spin on
// each other or sit in the kernel must not stop those that could release them. Internal to core.
#pragma once

#include <array>
#include <cstdint>

#include "core/monitor/by_carrier.h"
#include "core/monitor/stall_watch.h"
#include "core/sched/carrier.h"

namespace weft::core {

struct Pool;

// Work has stalled where it has waited for a whole tick and nobody has taken anything from where it stands. Then
// - for carriers that sleep in a system call others are lent in their place, soon;
// - where carriers run, and for a while none that could do the work has switched, claimed or ended anything, the region
//   whose calls wait gets a probe (core/monitor/stall_watch.h);
// - where that shows nothing for long, or work waits very long beside others that move, without evidence, late. When
//   those that ran before turn out to have computed, the threads are taken back, and the region has more patience.
class Stalls {
 public:
  explicit Stalls(Pool& p) noexcept : pool_(p) {}

  // At each of the monitor's ticks.
  void tick() noexcept;

  // While there is a probe: every so often between ticks.
  bool probing() const noexcept { return probe_.function != nullptr && !probe_.kept; }
  int64_t period_ns() const noexcept { return watch_.period_ns(time_ns_); }
  void look() noexcept;

  // Threads have been lent for another reason.
  void keep_lent() noexcept { calm_ticks_ = 0; }

  // Carriers of which the system is asked per tick what they are at: some 8 us each.
  static constexpr int kMostAsked = 16;

 private:
  // What one tick remembers of a carrier for the next.
  struct Seen {
    bool ready_waited = false;
    const Context* root_waited = nullptr;
    uint64_t root_switches = 0;
    uint32_t ready_taken = 0;
    int bodiless_ticks = 0;
    // Of its open calls, as many as there were; made with the first and kept. Null: there have been none.
    std::array<uint64_t, kOpenCalls>* claims = nullptr;
    int open_calls = 0;

    uint64_t activity = 0;
    bool moved = false;  // since the tick before
    bool asleep = false;  // in the kernel, when that was last asked
    int64_t quiet_since_ns = 0;  // a root's: it only does work of its own
    int64_t touched_ns = 0;  // when nothing of its had stalled

    uint64_t probe_activity = 0;  // when the probe began
    uint64_t probe_progress = 0;
    bool ran_before_probe = false;

    uint64_t loan_activity = 0;  // the same for a loan without evidence
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
    int running = 0;
  };

  // Work that nobody takes for so long although others get on: they may be at what was there before, or wait for this
  // by turns.
  static constexpr int64_t kStarvingNs = 1'000'000'000;

  // What a carrier has done; and what a lent thread has got done: beginning is not enough.
  static uint64_t activity_of(const Carrier& carrier) noexcept;
  static uint64_t progress_of(const Carrier& carrier) noexcept;
  bool runs(const Carrier& carrier) const noexcept;

  Seen& seen(int index) noexcept;
  void move_clock() noexcept;
  void see_activity() noexcept;
  int64_t quiet_ns(const Carrier* root) noexcept;

  int count_stalled() noexcept;
  int stalled_contexts(Carrier& carrier, Seen& before) noexcept;
  bool is_late(Carrier& carrier, Seen& before) const noexcept;
  int stalled_calls(Carrier& carrier, Seen& before) noexcept;
  bool root_stalled(Carrier& carrier, Seen& before) noexcept;
  void note_target(const ParallelCall* parallel_call, const Carrier* root) noexcept;

  bool counts(const Carrier& carrier) const noexcept;
  int idle_workers() const noexcept;
  Crowd look_at_carriers() noexcept;
  void lend(int waiting) noexcept;
  void lend_for_sleepers(const Crowd& crowd, int waiting) noexcept;
  void lend_without_evidence(int waiting) noexcept;
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

  // CPU time of the process for each of its running threads.
  int64_t time_ns_ = 0;
  int64_t cpu_before_ns_ = 0;
  // Real time as far as the monitor has been there: while a process is stopped its members cannot go on.
  int64_t real_ns_ = 0;
  int64_t tick_before_ns_ = 0;
  int64_t workers_quiet_since_ns_ = 0;

  Target target_;  // the first that is found at this tick
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

  // A loan without evidence is an experiment as well, the last one is watched: what follows it is evidence.
  struct {
    bool watched = false;
    const void* function = nullptr;  // null: what waits is no region's
    const Carrier* root = nullptr;
    int64_t quiet_since_ns = 0;  // when nothing moved any more, before the first of the loans
  } loan_;
  Probe loan_watch_;

  int stalled_ticks_ = 0;
  int asleep_ticks_ = 0;
  int asleep_ = 0;  // at the last look
  int next_asked_ = 0;
  int calm_ticks_ = 0;
  int64_t lent_at_ns_ = 0;
  int64_t stalled_at_real_ns_ = 0;  // when work began to wait in vain, on the clock of real_ns_
  int64_t lent_at_real_ns_ = 0;  // the last loan, or that
  int64_t lent_at_cpu_ns_ = 0;  // the same in CPU time of the process
  bool waiters_seen_ = false;
  int64_t longest_quiet_ns_ = 0;  // of what waits
  int64_t starving_ns_ = 0;  // the longest that something has waited
  int64_t starving_patience_ns_ = 0;
};

}  // namespace weft::core
