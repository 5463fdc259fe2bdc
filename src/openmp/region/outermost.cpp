// SPDX-License-Identifier: Apache-2.0
#include "openmp/region/outermost.h"

#include <algorithm>
#include <bit>
#include <new>

#include "base/message.h"
#include "core/api/fork.h"
#include "openmp/affinity/bound_threads.h"
#include "openmp/affinity/team_affinity.h"
#include "openmp/record/record_cache.h"
#include "openmp/region/inherit.h"
#include "openmp/region/watch.h"
#include "openmp/settings/icv.h"
#include "openmp/task/stand_in.h"
#include "openmp/task/task.h"
#include "openmp/task/task_wait.h"
#include "openmp/team/cancel.h"
#include "platform/generation.h"

namespace weft::openmp {

namespace {

// How many roots may keep a persistent team. More would only hold memory: with this many roots the CPUs are busy, and a
// woven team needs no contexts of its own.
constexpr int kMaxPersistentTeams = 4;
std::atomic<int> g_persistent_teams{0};

constexpr int kVersionWord = core::Post::kWords - 1;

// Version of the team that the member has set itself up for.
thread_local uint32_t t_version = 0;
thread_local Member* t_persistent_member = nullptr;
thread_local bool t_apart = false;  // its thread is that of a member of a team whose members are apart

void run_persistent_member(core::PersistentTeam* persistent_team, int index, const core::Post& post) {
  auto* team = static_cast<Team*>(persistent_team->owner_data());
  const auto version = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(post.words[kVersionWord]));
  Member* member = t_persistent_member;
  if (member == nullptr) {
    member = take_frame();
    member->outer = nullptr;
    t_persistent_member = member;
  }
  if (version != t_version || member->team != team) {
    enter_team(member, team, index);
    if (team->icvs.affinity) take_place(member);
    if (team->apart || t_apart) {
      core::go_to_thread(team->apart ? core::thread_apart(index, team->size) : index);
      t_apart = team->apart;
    }
    t_version = version;
  }
  if (tasks_may_pause()) member->implicit.uses_number = false;
  make_current(member);
  tool::begin_member(member);
  reinterpret_cast<Invoke>(post.words[0])(post.words, index);
  if (tool::is_on()) {
    // Members that may be left out have no barrier. As in a woven team, the member's tasks end before it does.
    if (team->partial && team->tasks.tasked.load(std::memory_order_relaxed)) {
      help_with_tasks(member);
      await_children(member);
    }
    tool::end_member(member, !team->partial);
  } else if (team->tasks.tasked.load(std::memory_order_relaxed)) {
    linger(member, Lingers::until_closing);
  }
  // What the region has set ends with it.
  member->implicit.icvs = &team->icvs;
}

// A member between two regions: tasks have come, from members that are still inside.
void nudge_persistent_member(core::PersistentTeam*, int, const core::Post&) {
  // To a tool its implicit task has ended.
  if (t_persistent_member != nullptr && !tool::is_on()) linger(t_persistent_member, Lingers::until_tasks_end);
}

bool same(const Icvs& a, const Icvs& b) noexcept {
  return a.nthreads == b.nthreads && a.max_active_levels == b.max_active_levels && a.thread_limit == b.thread_limit &&
         a.dynamic == b.dynamic && a.run_schedule.kind == b.run_schedule.kind &&
         a.run_schedule.chunk == b.run_schedule.chunk && a.allocator == b.allocator &&
         a.nthreads_tail == b.nthreads_tail && a.default_device == b.default_device &&
         a.limits_of_libraries == b.limits_of_libraries;
}

bool make_persistent_team(Root* root) noexcept {
  if (root->no_persistent_team) return false;
  if (!root->has_persistent_team) {
    if (g_persistent_teams.fetch_add(1, std::memory_order_relaxed) >= kMaxPersistentTeams) {
      g_persistent_teams.fetch_sub(1, std::memory_order_relaxed);
      root->no_persistent_team = true;
      return false;
    }
    root->has_persistent_team = true;
  }
  if (root->persistent_team == nullptr) {
    // Both stay with the root's record: members look at them a moment after they have said done.
    root->outermost_team = new (std::nothrow) Team;
    root->persistent_team = new (std::nothrow) core::PersistentTeam(run_persistent_member, nudge_persistent_member,
                                                                    root->outermost_team, root->outermost_team);
    if (root->persistent_team == nullptr || root->outermost_team == nullptr)
      base::lacking("no memory for a team of threads");
    root->outermost_team->kind = RegionKind::outermost;
    root->outermost_team->persistent_team = root->persistent_team;
    root->outermost_team->size = 1;
  }
  return true;
}

// Makes the outermost team fit the region; false when the system refuses the threads.
bool fit_persistent_team(Root* root, Member* parent, int& size, base::ProcBind bind) noexcept {
  const int members = std::min(size, core::kMaxPersistentMembers);
  if (members > root->most_members) {
    // What members of a smaller team have they keep.
    reserve_records(members - std::max(root->most_members, 1));
    root->most_members = members;
  }
  const int got = root->persistent_team->reserve(size);
  if (got < size) size = got;
  if (size < 2) return false;
  Team* team = root->outermost_team;
  const int level = parent->team->level + 1;
  Icvs wanted = icvs(parent);
  enter_level(wanted, level);
  // Members keep this line while nothing in it changes.
  if (team->parent != parent) team->parent = parent;
  inherit_league(team, parent);
  // With another placement the members have to look for their places anew.
  if (wanted.affinity && set_placement(team, parent, size, bind)) root->persistent_fits = false;
  const bool apart = team->nests.load(std::memory_order_relaxed) && !wanted.affinity && core::has_room_apart(size);
  // Threads move, mostly at first: now and then, less and less often, members look again where they had best be.
  constexpr unsigned kMostRegions = 1024;
  if (apart) ++team->regions_apart;
  const bool looks_again =
      apart && (std::has_single_bit(team->regions_apart) || team->regions_apart % kMostRegions == 0);
  if (team->apart != apart || looks_again) root->persistent_fits = false;
  if (team->size == size && team->level == level && same(team->icvs, wanted) && root->persistent_fits) return true;
  team->first_loop = root->primary.loops;
  team->first_single = root->primary.singles;
  team->barrier.passed.store(root->primary.barriers, std::memory_order_relaxed);
  team->size = size;
  team->level = level;
  team->active_level = 1;
  team->icvs = wanted;
  team->apart = apart;
  team->flat = size <= core::slots() && (!wanted.affinity || has_room(team->places.placement));
  reserve_members(team, size);
  for (int i = 0; i < size; ++i) team->members.lines[i].reset(root->primary.barriers);
  ++root->persistent_version;
  root->persistent_fits = true;
  enter_team(&root->primary, team, 0);
  if (wanted.affinity) take_place(&root->primary);
  return true;
}

// The root whose persistent team may run a region of `parent`: nothing but regions of one member lies around it. Each
// team is looked at, since those of a league and of target regions count their levels from 0.
Root* root_around(const Member* parent) noexcept {
  while (parent->team->active_level == 0) {
    // A stand-in runs beside its member, which may have a region of its own.
    if (parent->stands_in) return nullptr;
    if (parent->team->root != nullptr) return parent->team->root;
    // A free agent runs beside the persistent team.
    if (parent->team->agent_of != nullptr) return nullptr;
    parent = parent->outer;
    // The levels around an initial thread of a league inside a target region are not in its own count.
    if (parent->team->active_level > 0) return nullptr;
  }
  return nullptr;
}

// Members 1 .. started-1 begin.
void start_members(Root* root, void* const* words, int started) noexcept {
  core::PersistentTeam* persistent_team = root->persistent_team;
  core::Post post;
  for (int k = 0; k < kVersionWord; ++k) post.words[k] = words[k];
  post.words[kVersionWord] = reinterpret_cast<void*>(uintptr_t{root->persistent_version});
  if (root->outermost_team->partial) {
    persistent_team->start_optional(started, post);
  } else {
    persistent_team->start(started, post);
  }
}

}  // namespace

bool OutermostRegion::reserve_team(Opening& opening) noexcept {
  Root* root = root_around(opening.parent);
  if (root == nullptr) return false;
  core::attach();
  if (root->generation != platform::generation()) {
    // The persistent team was our parent process's.
    root->persistent_team = nullptr;
    root->persistent_fits = false;
    root->no_persistent_team = false;
    root->most_members = 0;
    root->generation = platform::generation();
  }
  opening.root = root;
  return make_persistent_team(root) && fit_persistent_team(root, opening.parent, opening.size, opening.bind);
}

void OutermostRegion::begin(const Opening& opening) noexcept {
  Root* root = opening.root;
  const int size = opening.size;
  void* const* words = opening.words;
  const Prepare prepare = opening.prepare;
  core::Context* context = core::current_context();
  core::enter_region(context, size);
  watch(root->outermost_team, size, context, words);
  Team* team = root->outermost_team;
  // Members keep its line while nothing in it changes.
  if (team->partial != (prepare != nullptr)) team->partial = prepare != nullptr;
  // Relaxed: that members begin is a release.
  std::atomic<bool>& marks = team->tasks.marks_filled;
  if (const bool wanted = wants_marks(size); marks.load(std::memory_order_relaxed) != wanted)
    marks.store(wanted, std::memory_order_relaxed);
  tool::begin_parallel(team, opening.parent);
  const int started = __builtin_expect(prepare != nullptr, 0) ? prepare(team, words) : size;
  if (team->started != started) team->started = started;
  start_members(root, words, started);
  Member* primary = primary_ = &root->primary;
  primary->outer = opening.parent;
  if (tasks_may_pause()) primary->implicit.uses_number = false;
  continue_as(primary);
}

int OutermostRegion::gather(bool lends) noexcept {
  const int size = primary_->team->size;
  // Where they are more than there are slots, nobody else waits for these.
  return !lends || (core::alone() && size <= core::slots()) ? 0 : core::lend_threads(size - 1 - core::idle_carriers());
}

void OutermostRegion::begin_others(void* const* words, int members) noexcept {
  primary_->team->started = members;
  start_members(root_around(primary_->outer), words, members);
}

void OutermostRegion::end() noexcept {
  Member* primary = primary_;
  Team* team = primary->team;
  tool::end_primary(primary, !team->partial);
  // Where there are tasks, all may have to do with them.
  if (team->partial && !team->tasks.tasked.load(std::memory_order_relaxed)) team->persistent_team->withdraw();
  if (holds_up_others(primary) || !team->persistent_team->finish(team->tasks.tasked)) {
    help_with_tasks(primary);
    team->tasks.closing.store(true, std::memory_order_relaxed);
    team->persistent_team->finish_by([primary](auto&& done) { wait_helping(primary, done); });
  }
  if (team->tasks.tasked.load(std::memory_order_relaxed)) drain_at_end(primary);
  if (tasks_may_pause()) team->tasks.closing.store(false, std::memory_order_relaxed);
  if (team->policy.site != nullptr) end_watched(team);
  end_watch(primary);
  forget_cancelled_loop(team);
  if (team->cancelled.load(std::memory_order_relaxed)) {
    restore_after_cancellation(team, primary);
    // The members stand at different constructs: the next region sets them up anew.
    root_around(primary->outer)->persistent_fits = false;
  }
  primary->implicit.icvs = &team->icvs;
  tool::end_parallel(primary);
  continue_as(primary->outer);
  core::leave_region(primary->context);
}

void release_persistent_team(Root* root) noexcept {
  root->no_persistent_team = false;
  if (!root->has_persistent_team) return;
  if (root->persistent_team != nullptr && root->generation == platform::generation()) {
    // The members run once more: as in a region, the monitor sees to it that they get to.
    core::Context* context = core::attach();
    core::enter_region(context, 1);
    root->persistent_team->dismiss();
    core::leave_region(context);
  }
  root->persistent_fits = false;
  root->has_persistent_team = false;
  g_persistent_teams.fetch_sub(1, std::memory_order_relaxed);
}

void end_persistent_member() noexcept {
  if (t_persistent_member != nullptr) put_frame(t_persistent_member);
  t_persistent_member = nullptr;
}

}  // namespace weft::openmp
