// SPDX-License-Identifier: Apache-2.0
#include "observe/account/blame.h"

#include <algorithm>

namespace weft::observe {

namespace {

// Why the CPU is lost that a context which is held up would use.
Loss reason_of(const Shown& shown) noexcept { return awaits_messages(shown) ? Loss::transfer : Loss::blocked; }

}  // namespace

Blame::Tally& Blame::tally(ConstructId region) {
  for (Tally& each : tallies_) {
    if (each.region == region) return each;
  }
  tallies_.push_back({});
  tallies_.back().region = region;
  return tallies_.back();
}

const Blame::Tally* Blame::find(ConstructId region) const {
  for (const Tally& each : tallies_) {
    if (each.region == region) return &each;
  }
  return nullptr;
}

// Whether only one member of a team may be where `node` is; `construct` becomes what says so.
bool Blame::is_lone(ConstructId node, ConstructId* construct) const noexcept {
  for (; node != 0 && nodes_[node].kind != Kind::region; node = nodes_[node].parent) {
    const Kind kind = nodes_[node].kind;
    if (kind == Kind::single || kind == Kind::masked || kind == Kind::critical || kind == Kind::ordered) {
      *construct = node;
      return true;
    }
    // Tasks of a single region are work for all.
    if (kind == Kind::task) return false;
  }
  return false;
}

bool Blame::is_in(ConstructId node, ConstructId region) const noexcept {
  for (ConstructId around = nodes_[node].region; around != 0; around = nodes_[nodes_[around].parent].region) {
    if (around == region) return true;
  }
  return false;
}

// The construct of `region` in which `node` is; the region itself: in none.
ConstructId Blame::construct_in(ConstructId node, ConstructId region) const noexcept {
  ConstructId construct = region;
  for (; node != region && node != 0; node = nodes_[node].parent) {
    // Of several within each other the innermost one that belongs to the region.
    if (nodes_[node].region == region && construct == region) construct = node;
  }
  return construct;
}

// Members that have ended before the others. Where contexts of inner regions are among its members nobody can tell.
int Blame::missing(const Tally& tally) const noexcept {
  const int members = nodes_[tally.region].members.load(std::memory_order_relaxed);
  return std::max(0, tally.instances * members - tally.direct);
}

void Blame::count(const Shown& shown) {
  const ConstructId innermost = nodes_[shown.node].region;
  bool is_innermost = true;
  for (ConstructId region = innermost; region != 0; region = nodes_[nodes_[region].parent].region) {
    Tally& here = tally(region);
    if (is_innermost) {
      ++here.direct;
      if (shown.primary) ++here.instances;
    }
    if (works(shown)) {
      ++here.workers;
      ConstructId construct = 0;
      if (is_innermost && is_lone(shown.node, &construct)) ++here.lone_workers;
    }
    if (is_held_up(shown)) ++here.held_up;
    is_innermost = false;
  }
}

void Blame::note_wall(const std::vector<Shown>& seen, double ns) {
  ++stamp_;
  stamps_.resize(ConstructTree::kMost);
  for (const Shown& shown : seen) {
    for (ConstructId node = shown.node; stamps_[node] != stamp_; node = nodes_[node].parent) {
      stamps_[node] = stamp_;
      ledger_.at(node).wall += ns;
      if (node == 0) break;
    }
  }
}

// `ns` is lost by others since the workers of the region are not done.
void Blame::charge_workers(const Tally& tally, const std::vector<Shown>& seen, double ns, ConstructId waited_at) {
  const bool lone = tally.lone_workers == tally.workers;
  const double share = ns / tally.workers;
  for (const Shown& shown : seen) {
    if (!works(shown) || !is_in(shown.node, tally.region)) continue;
    ConstructId construct = 0;
    if (lone && is_lone(shown.node, &construct)) {
      ledger_.lose(construct, Loss::serial, share);
      continue;
    }
    construct = construct_in(shown.node, tally.region);
    // A loop of which the runtime is not told has no node; the barrier behind it says where it is.
    if (construct == tally.region) construct = waited_at;
    ledger_.lose(construct, Loss::imbalance, share);
  }
}

// CPUs on which contexts wait.
void Blame::charge_waits(const std::vector<Shown>& seen, double ns) {
  for (const Shown& shown : seen) {
    if (shown.left) continue;
    switch (shown.state) {
      case State::unwatched:
      case State::unwatched_chunks: ledger_.at(shown.node).unwatched += ns; break;
      case State::runtime: ledger_.lose(shown.node, Loss::overhead, ns); break;
      case State::wait_messages: ledger_.lose(shown.node, Loss::transfer, ns); break;
      case State::wait_lock: ledger_.lose(shown.node, Loss::synchronisation, ns); break;
      case State::wait_barrier:
      case State::wait_tasks: add_wait(shown.node, ns); break;
      default: break;
    }
  }
  charge_added_waits(seen);
}

void Blame::add_wait(ConstructId node, double ns) {
  const auto known = std::find_if(waits_.begin(), waits_.end(), [node](const Wait& wait) { return wait.node == node; });
  if (known != waits_.end()) {
    known->ns += ns;
  } else {
    waits_.push_back({node, ns});
  }
}

void Blame::charge_added_waits(const std::vector<Shown>& seen) {
  for (const Wait& wait : waits_) {
    const Tally* region = find(nodes_[wait.node].region);
    if (region != nullptr && region->workers > 0) {
      charge_workers(*region, seen, wait.ns, wait.node);
    } else if (region != nullptr && region->held_up > 0) {
      charge_held_up(seen, region->region, region->held_up, wait.ns);
    } else {
      ledger_.lose(wait.node, Loss::overhead, wait.ns);
    }
  }
  waits_.clear();
}

// `ns` is lost since nobody in the region works, and some there are held up; 0: in the whole program.
void Blame::charge_held_up(const std::vector<Shown>& seen, ConstructId region, int held_up, double ns) {
  for (const Shown& shown : seen) {
    if (!is_held_up(shown) || (region != 0 && !is_in(shown.node, region))) continue;
    ledger_.lose(shown.node, reason_of(shown), ns / held_up);
  }
}

// CPUs on which no context is. Contexts that wait without a CPU would use them, so what they wait for is the reason.
void Blame::charge_idle(const std::vector<Shown>& seen, double cpus, double ns) {
  int locked = 0;
  int sleepers = 0;
  int paused = 0;
  // The other members of such regions are not seen.
  for (const Shown& shown : seen) {
    if (shown.state != State::unwatched) continue;
    // A primary that has left its carrier waits for the others, and one of these may have its CPU.
    const int members = nodes_[shown.node].members.load(std::memory_order_relaxed);
    const double theirs = std::clamp<double>(shown.left ? members : members - 1, 0, cpus);
    ledger_.at(shown.node).unwatched += ns * theirs;
    cpus -= theirs;
  }
  for (const Shown& shown : seen) {
    if (!shown.left) continue;
    if (shown.state == State::wait_lock) ++locked;
    if (waits_for_others(shown)) ++sleepers;
    if (is_paused(shown)) ++paused;
  }
  const double by_locks = std::min<double>(cpus, locked);
  const double by_others = std::min<double>(cpus - by_locks, sleepers);
  const double by_paused = std::min<double>(cpus - by_locks - by_others, paused);
  for (const Shown& shown : seen) {
    if (!shown.left) continue;
    if (shown.state == State::wait_lock) ledger_.lose(shown.node, Loss::synchronisation, ns * by_locks / locked);
    if (is_paused(shown)) ledger_.lose(shown.node, reason_of(shown), ns * by_paused / paused);
    if (waits_for_others(shown)) add_wait(shown.node, ns * by_others / sleepers);
  }
  charge_added_waits(seen);
  charge_rest(seen, cpus - by_locks - by_others - by_paused, ns);
}

// Nobody works. Where nobody is held up, members that wait are about to go on, or to begin.
void Blame::charge_standstill(const std::vector<Shown>& seen, double cpus, double ns) {
  const auto held_up = std::count_if(seen.begin(), seen.end(), is_held_up);
  if (held_up > 0) return charge_held_up(seen, 0, static_cast<int>(held_up), ns * cpus);
  const auto waits = [](const Shown& shown) { return waits_for_others(shown); };
  const auto waiting = std::count_if(seen.begin(), seen.end(), waits);
  if (waiting == 0) return ledger_.lose(0, Loss::blocked, ns * cpus);
  for (const Shown& shown : seen) {
    if (waits(shown)) ledger_.lose(shown.node, Loss::overhead, ns * cpus / static_cast<double>(waiting));
  }
}

// CPUs that nobody wants: those that work have left no work for them.
void Blame::charge_rest(const std::vector<Shown>& seen, double cpus, double ns) {
  if (cpus <= 0) return;
  int workers = 0;
  int ended = 0;
  int workers_of_ended = 0;
  for (const Shown& shown : seen) workers += works(shown) ? 1 : 0;
  if (workers == 0) return charge_standstill(seen, cpus, ns);
  for (const Tally& each : tallies_) {
    if (each.workers == 0 || missing(each) == 0) continue;
    ended += missing(each);
    workers_of_ended += each.workers;
  }
  const double by_ended = std::min<double>(cpus, ended);
  const double rest = cpus - by_ended;
  // A thread that works in an inner region keeps those of the outer ones waiting too.
  for (const Tally& each : tallies_) {
    if (each.workers == 0 || missing(each) == 0) continue;
    for (const Shown& shown : seen) {
      if (!works(shown) || !is_in(shown.node, each.region)) continue;
      ledger_.lose(construct_in(shown.node, each.region), Loss::imbalance, ns * by_ended / workers_of_ended);
    }
  }
  for (const Shown& shown : seen) {
    if (!works(shown)) continue;
    const ConstructId region = nodes_[shown.node].region;
    const Tally* here = find(region);
    const double share = ns * rest / workers;
    ConstructId construct = 0;
    if (region == 0) {
      ledger_.lose(shown.node, Loss::serial, share);
    } else if (here->lone_workers == here->workers && is_lone(shown.node, &construct)) {
      ledger_.lose(construct, Loss::serial, share);
    } else {
      ledger_.lose(region, Loss::few_threads, share);
    }
  }
}

double Blame::take(const std::vector<Shown>& seen, double ns) {
  tallies_.clear();
  int busy = 0;
  for (const Shown& shown : seen) {
    count(shown);
    if (!shown.left) ++busy;
  }
  note_wall(seen, ns);
  // More threads of the program than CPUs share them.
  const double each = busy > cpus_ ? ns * cpus_ / busy : ns;
  for (const Shown& shown : seen) {
    if (!shown.left && shown.state == State::work) ledger_.at(shown.node).useful += each;
  }
  charge_waits(seen, each);
  charge_idle(seen, std::max(0, cpus_ - busy), ns);
  return each;
}

void Blame::take_start(ConstructId serial, double ns, double worked) {
  Account& account = ledger_.at(serial);
  account.useful += worked;
  account.wall += ns;
  ledger_.lose(serial, Loss::blocked, ns - worked);
  ledger_.lose(serial, Loss::serial, ns * (cpus_ - 1));
  ledger_.at(0).wall += ns;
}

}  // namespace weft::observe
