// SPDX-License-Identifier: Apache-2.0
// One snapshot of all contexts: each CPU that does no work of the program is charged to a node, for a reason
// (docs/explanation/report.md, "Who is to blame").
#pragma once

#include <vector>

#include "observe/account/construct_tree.h"
#include "observe/account/ledger.h"
#include "observe/account/shown.h"

namespace weft::observe {

class Blame {
 public:
  Blame(const ConstructTree& nodes, Ledger& ledger, int cpus) : nodes_(nodes), ledger_(ledger), cpus_(cpus) {}

  // What was seen stands for `ns` nanoseconds. `seen` holds no context that is out of everything.
  // Returns how much of that time each context on a CPU had: less where there are more of them than CPUs.
  double take(const std::vector<Shown>& seen, double ns);

  // The program until its first call of OpenMP: one thread of it worked, for `worked` of the time.
  void take_start(ConstructId serial, double ns, double worked);

 private:
  // Time lost at a place where contexts wait.
  struct Wait {
    ConstructId node;
    double ns;
  };
  // What the snapshot says of a region; contexts in regions inside of it are counted too, but for `direct` ones.
  struct Tally {
    ConstructId region = 0;
    int workers = 0;        // in the program or in the runtime
    int lone_workers = 0;   // of them: in a single, masked or critical region
    int held_up = 0;        // contexts of which is_held_up() is true
    int direct = 0;         // contexts whose innermost region it is
    int instances = 0;      // of them: primaries
  };

  Tally& tally(ConstructId region);
  const Tally* find(ConstructId region) const;
  void count(const Shown& shown);
  void charge_waits(const std::vector<Shown>& seen, double ns);
  void add_wait(ConstructId node, double ns);
  void charge_added_waits(const std::vector<Shown>& seen);
  void charge_held_up(const std::vector<Shown>& seen, ConstructId region, int held_up, double ns);
  void charge_idle(const std::vector<Shown>& seen, double cpus, double ns);
  void charge_workers(const Tally& tally, const std::vector<Shown>& seen, double ns, ConstructId waited_at);
  void charge_standstill(const std::vector<Shown>& seen, double cpus, double ns);
  void charge_rest(const std::vector<Shown>& seen, double cpus, double ns);
  void note_wall(const std::vector<Shown>& seen, double ns);

  bool is_lone(ConstructId node, ConstructId* construct) const noexcept;
  bool is_in(ConstructId node, ConstructId region) const noexcept;
  ConstructId construct_in(ConstructId node, ConstructId region) const noexcept;
  int missing(const Tally& tally) const noexcept;

  const ConstructTree& nodes_;
  Ledger& ledger_;
  const int cpus_;
  std::vector<Tally> tallies_;
  std::vector<Wait> waits_;
  std::vector<uint32_t> stamps_;  // by node: the snapshot that has met it last
  uint32_t stamp_ = 0;
};

inline bool is_unwatched(const Shown& shown) noexcept {
  return shown.state == State::unwatched || shown.state == State::unwatched_chunks;
}
inline bool works(const Shown& shown) noexcept {
  return !shown.left && (shown.state == State::work || shown.state == State::runtime || is_unwatched(shown));
}
inline bool awaits_messages(const Shown& shown) noexcept { return shown.state == State::wait_messages; }
// Whether something else than its team keeps the context from work: it awaits messages, with its CPU or without; or it
// has left its carrier in the middle of its work, since its task has paused, or since it lets others run (sched_yield).
inline bool is_held_up(const Shown& shown) noexcept {
  const bool works =
      shown.state == State::work || shown.state == State::runtime || shown.state == State::unwatched_chunks;
  return awaits_messages(shown) || (shown.left && works);
}
inline bool is_paused(const Shown& shown) noexcept { return shown.left && is_held_up(shown); }
inline bool waits_for_others(const Shown& shown) noexcept {
  return shown.state == State::wait_barrier || shown.state == State::wait_tasks;
}

}  // namespace weft::observe
