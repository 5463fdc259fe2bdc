// SPDX-License-Identifier: Apache-2.0
#include "openmp/affinity/team_affinity.h"

#include <algorithm>
#include <atomic>

#include <sys/syscall.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "core/api/fork.h"
#include "openmp/affinity/affinity.h"
#include "openmp/affinity/affinity_format.h"
#include "openmp/affinity/bound_threads.h"
#include "openmp/record/record_cache.h"
#include "openmp/record/root.h"
#include "openmp/record/team.h"

namespace weft::openmp {

namespace {

const platform::CpuSet* cpus_of(int place) noexcept { return affinity().places.begin() + place; }

Partition whole() noexcept { return {0, affinity().places.size()}; }

Placement::Kind kind_of(base::ProcBind policy) noexcept {
  switch (policy) {
    case base::ProcBind::close: return Placement::Kind::close;
    case base::ProcBind::spread: return Placement::Kind::spread;
    case base::ProcBind::true_: return affinity().cyclic ? Placement::Kind::cyclic : Placement::Kind::close;
    case base::ProcBind::primary:
    case base::ProcBind::false_: break;
  }
  return Placement::Kind::primary;
}

Placement placement_of(const Member* parent, int size, base::ProcBind bind) noexcept {
  base::ProcBind policy = policy_at(affinity(), parent->team->level);
  if (bind != base::ProcBind::false_ && policy != base::ProcBind::false_) policy = bind;
  return {kind_of(policy), thread_place_of(parent), size};
}

thread_local bool t_root_is_bound = false;

// Only now, not at the first use of OpenMP: a program that asks how many threads there could be is not bound for it.
void bind_root(Root* root) noexcept {
  if (root->bound) return;
  root->bound = true;
  const base::KeepErrno keep;
  const int place = root->team.places.placement.parent.place;
  if (place >= 0) t_root_is_bound = platform::bind_thread(*cpus_of(place));
}

// Of a region that the caller begins in a team at nesting depth `outer_level`.
bool is_new(const Placement& placement, int outer_level) noexcept {
  Placement& last = store().shown.last[static_cast<size_t>(std::min(outer_level, PlacesShown::kDepths - 1))];
  if (last == placement) return false;
  last = placement;
  return true;
}

// Members that are not bound stay within the partition, or near it (docs/explanation/openmp.md, Binding). Relaxed:
// publish() follows.
void keep_within(Team* team, const Partition& partition) noexcept {
  const bool all = partition.count == affinity().places.size();
  const auto first = static_cast<uint16_t>(partition.first);
  const auto count = static_cast<uint16_t>(all ? 0 : partition.count);
  team->core::ParallelCall::places.store({first, count}, std::memory_order_relaxed);
  team->nodes.store(all ? 0 : nodes_of(partition), std::memory_order_relaxed);
}

}  // namespace

bool root_is_bound() noexcept { return t_root_is_bound; }

bool watches_affinity() noexcept { return affinity().on || base::options().display_affinity; }

ThreadPlace thread_place_of(const Member* member) noexcept {
  return affinity().on ? thread_place_of(member->team->places.placement, member->number) : ThreadPlace();
}

void place_root(Root* root) noexcept {
  Placement& placement = root->team.places.placement;
  placement = Placement();
  if (!affinity().on) return;
  // Threads of the program's own that use OpenMP begin at places of their own. Relaxed: it only counts.
  static std::atomic<int> others{0};
  const bool is_main = syscall(SYS_gettid) == getpid();
  const int number = is_main ? 0 : others.fetch_add(1, std::memory_order_relaxed) + 1;
  const Partition all = whole();
  placement.parent = {(affinity().first + number % all.count) % all.count, all};
}

bool set_placement(Team* team, Member* parent, int size, base::ProcBind bind) noexcept {
  if (Root* root = parent->team->root) bind_root(root);
  const Placement wanted = placement_of(parent, size, bind);
  const bool moved = !(team->places.placement == wanted);
  team->places.placement = wanted;
  if (moved) keep_within(team, wanted.parent.partition);
  team->places.shown = base::options().display_affinity && is_new(wanted, parent->team->level);
  return moved || team->places.shown;
}

bool would_share_threads(Member* parent, int size) noexcept {
  return affinity().on && !has_room(placement_of(parent, size, base::ProcBind::false_));
}

void take_place(Member* member) noexcept {
  const Team* team = member->team;
  // Others run on whatever carrier comes for them.
  const int place = team->persistent_team != nullptr ? thread_place_of(member).place : -1;
  if (place >= 0) {
    core::bind_self(cpus_of(place));
    if (member->number > 0) core::prefer_thread(thread_of(team->places.placement, member->number));
  }
  if (team->places.shown) display_affinity(member, nullptr, 0);
}

void begin_placement(Member* primary, Member* parent, base::ProcBind bind) noexcept {
  set_placement(primary->team, parent, primary->team->size, bind);
  take_place(primary);
}

void inherit_place(Team* team, Member* parent) noexcept {
  team->places.placement = {Placement::Kind::primary, thread_place_of(parent), 1};
  team->places.shown = false;
}

void place_agent(Team* team, const Team* home) noexcept {
  team->places.placement = {Placement::Kind::primary, thread_place_of(home->places.placement, 0), 1};
  team->places.shown = false;
}

}  // namespace weft::openmp
