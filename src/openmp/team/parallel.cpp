// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/parallel.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/message.h"
#include "core/sched/gang.h"
#include "core/sched/gang_regions.h"
#include "core/sched/scheduler.h"
#include "openmp/affinity/bound_threads.h"
#include "openmp/library/call_policy.h"
#include "openmp/library/nested_blas.h"
#include "openmp/ompt/events.h"
#include "openmp/settings/startup.h"
#include "openmp/settings/statistics.h"
#include "openmp/task/task_regions.h"
#include "openmp/task/task_wait.h"
#include "openmp/team/barrier.h"
#include "openmp/team/cancel.h"
#include "openmp/team/record_cache.h"
#include "openmp/team/root.h"
#include "openmp/team/team_affinity.h"
#include "openmp/team/thread_limit.h"
#include "platform/fence.h"
#include "platform/generation.h"

namespace weft::openmp {

namespace {

// How many roots may keep a persistent team. More would only hold memory: with so many roots
// the CPUs are busy, and a woven team needs no contexts of its own.
constexpr int kMaxPersistentTeams = 4;
std::atomic<int> g_persistent_teams{0};

// Section 10.1.1: how many members a region gets.
int team_size(Member* self, int requested) noexcept {
  const Icvs& now = icvs(self);
  if (requested == 1) return 1;
  if (self->team->active_level >= now.max_active_levels) return 1;
  int size = requested > 0 ? requested : now.nthreads;
  if (size <= 1) return 1;
  size = std::min(size, now.thread_limit);
  if (now.dynamic) size = std::min(size, num_procs());
  return std::min(size, core::PersistentTeam::kMaxMembers);
}

// The members that a region of `size` may have beside the caller; `size` becomes what it gets.
ThreadGrant within_limit(Member* parent, int* size) noexcept {
  if (*size == 1 || !has_limit(parent)) return {};
  // It has asked on behalf of a library and opened no region for it.
  drop_answer();
  const ThreadGrant grant = take_threads(parent, *size, icvs(parent).thread_limit);
  *size = 1 + grant.threads;
  return grant;
}

constexpr int kVersionWord = core::Post::kWords - 1;

// words[1] is the outlined function, in both ABIs.
void watch(Team* team, int size, core::Context* context, void* const* words) noexcept {
  // A root's context belongs to whatever region it has begun last.
  if (context->home != nullptr) context->parallel_call.store(team, std::memory_order_relaxed);
  // Most regions are the one that the record has served last: members have its line then.
  if (team->function.load(std::memory_order_relaxed) != words[1])
    team->function.store(words[1], std::memory_order_relaxed);
  if (team->gang.load(std::memory_order_relaxed)) team->gang.store(false, std::memory_order_relaxed);
  const int lent = core::lend_to_region(team, size);
  if (team->lent != lent) team->lent = lent;
  if (g_library_calls.load(std::memory_order_relaxed)) begin_watched(team);
}

void end_watch(Member* primary) noexcept {
  const Team* team = primary->team;
  if (team->lent > 0) core::return_region_threads(team->lent);
  core::Context* context = primary->context;
  if (context->home != nullptr) context->parallel_call.store(primary->outer->team, std::memory_order_relaxed);
}

// ---- woven teams: nested ones, and those of roots without a persistent team ----

template <bool Told>
void run_woven(core::ParallelCall* parallel_call, int index) {
  auto* team = static_cast<Team*>(parallel_call);
  Member* member = take_frame();
  member->outer = Told ? current_member() : t_member;
  enter_team(member, team, index);
  if (team->icvs.affinity) take_seat(member);
  make_current<Told>(member);
  if (ompt::on<Told>()) ompt::begin_member(member);
  reinterpret_cast<Invoke>(team->words[0])(team->words.data(), index);
  if (team->gathers) pass_barrier(member);
  if (team->tasks.tasked.load(std::memory_order_relaxed)) {
    help_with_tasks(member);
    // Children count themselves in this implicit task, whose record serves again.
    await_children(member);
  }
  if (ompt::on<Told>()) ompt::end_member(member, false);
  make_current<Told>(member->outer);
  put_frame(member);
}

void inherit_league(Team* team, const Member* parent) noexcept {
  const Team* outer = parent->team;
  if (team->league.size == outer->league.size && team->league.number == outer->league.number) return;
  team->league.size = outer->league.size;
  team->league.number = outer->league.number;
}

void set_up(Team* team, Member* parent, int size, void* const* words) noexcept {
  team->size = size;
  team->level = parent->team->level + 1;
  team->active_level = parent->team->active_level + (size > 1 ? 1 : 0);
  team->parent = parent;
  team->icvs = icvs(parent);
  enter_level(team->icvs, team->level);
  inherit_league(team, parent);
  std::copy_n(words, team->words.size(), team->words.begin());
  reserve_members(team, size);
}

template <bool Told>
void begin_woven(Member* parent, int size, void* const* words, base::ProcBind bind, Member* primary) noexcept {
  core::Context* context = core::attach();
  if (context->home != nullptr) core::enter_region(context, size);
  Team* team = take_team();
  set_up(team, parent, size, words);
  team->call = run_woven<Told>;
  // To a tool a barrier would be one more.
  team->gathers = !ompt::on<Told>() && pushes_tasks(words[1]);
  team->flat = false;
  team->persistent_team = nullptr;
  primary->outer = parent;
  enter_team(primary, team, 0);
  if (team->icvs.affinity) begin_seats(primary, parent, bind);
  watch(team, size, context, words);
  if (ompt::on<Told>()) ompt::begin_parallel(team, parent);
  core::publish(team, size);
  make_current<Told>(primary);
}

// Waits for the other members at the end of the region, and runs tasks that they push meanwhile.
void join_members(Member* primary) noexcept {
  Team* team = primary->team;
  if (!team->tasks.tasked.load(std::memory_order_relaxed) && core::join(team, team->tasks.tasked)) return;
  help_with_tasks(primary);
  // Members that nobody has claimed go first; who pushes a task is to find this one all the same.
  fall_asleep(primary);
  const bool joined = core::join(team, team->tasks.tasked);
  if (wake_up(primary)) answer_call(primary, !joined);
  if (joined) return;
  // Against the last of the members, as in join().
  team->sleeper.store(primary->context, std::memory_order_release);
  platform::full_fence();
  wait_helping(primary, [team] { return team->pending.load(std::memory_order_acquire) == 0; });
  core::join(team);
}

template <bool Told>
void end_woven(Member* primary) noexcept {
  Team* team = primary->team;
  if (ompt::on<Told>()) ompt::end_primary(primary, false);
  if (team->gathers) pass_barrier(primary);
  join_members(primary);
  const bool tasked = team->tasks.tasked.load(std::memory_order_relaxed);
  if (tasked || team->gathers) note_tasks(team->words[1], tasked);
  if (tasked) drain_at_end(primary);
  if (team->policy.site != nullptr) end_watched(team);
  end_watch(primary);
  if (team->cancelled.load(std::memory_order_relaxed)) restore_after_cancellation(team, primary);
  team->first_loop = primary->loops;
  team->first_single = primary->singles;
  if (ompt::on<Told>()) ompt::end_parallel(primary);
  make_current<Told>(primary->outer);
  if (primary->context->home != nullptr) core::leave_region(primary->context);
  put_team(team);
}

// ---- regions of one member ----

template <bool Told>
void begin_alone(Member* parent, Member* member) noexcept {
  Team* team = take_team();
  team->size = 1;
  team->level = parent->team->level + 1;
  team->active_level = parent->team->active_level;
  team->parent = parent;
  team->icvs = icvs(parent);
  enter_level(team->icvs, team->level);
  team->flat = false;
  team->persistent_team = nullptr;
  inherit_league(team, parent);
  member->outer = parent;
  enter_team(member, team, 0);
  if (team->icvs.affinity) begin_seats(member, parent, base::ProcBind::false_);
  if (ompt::on<Told>()) ompt::begin_parallel(team, parent);
  make_current<Told>(member);
}

template <bool Told>
void end_alone(Member* member) noexcept {
  Team* team = member->team;
  if (ompt::on<Told>()) ompt::end_primary(member, false);
  if (team->tasks.detachable.load(std::memory_order_relaxed)) await_events(member);
  team->cancelled.store(false, std::memory_order_relaxed);
  team->first_loop = member->loops;
  team->first_single = member->singles;
  if (ompt::on<Told>()) ompt::end_parallel(member);
  make_current<Told>(member->outer);
  put_team(team);
}

// ---- outermost teams, which are persistent ----

// Version of the team that the member has set itself up for.
thread_local uint32_t t_version = 0;
thread_local Member* t_persistent_member = nullptr;

template <bool Told>
void run_persistent_member(core::PersistentTeam* persistent_team, int index, const core::Post& post) {
  auto* team = static_cast<Team*>(persistent_team->owner_data());
  const auto version = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(post.words[kVersionWord]));
  Member* member = t_persistent_member;
  if (member == nullptr) {
    member = take_frame();
    t_persistent_member = member;
  }
  if (version != t_version || member->team != team) {
    enter_team(member, team, index);
    if (team->icvs.affinity) take_seat(member);
    t_version = version;
  }
  make_current<Told>(member);
  if (ompt::on<Told>()) ompt::begin_member(member);
  reinterpret_cast<Invoke>(post.words[0])(post.words, index);
  if (ompt::on<Told>()) {
    ompt::end_member(member, true);
  } else if (team->tasks.tasked.load(std::memory_order_relaxed)) {
    linger(member, true);
  }
  // What the region has set ends with it.
  member->implicit.icvs = &team->icvs;
}

// A member between two regions: tasks have come, from members that are still inside.
void nudge_persistent_member(core::PersistentTeam*, int, const core::Post&) {
  // To a tool its implicit task has ended.
  if (t_persistent_member != nullptr && !ompt::on()) linger(t_persistent_member, false);
}

bool same(const Icvs& a, const Icvs& b) noexcept {
  return a.nthreads == b.nthreads && a.max_active_levels == b.max_active_levels && a.thread_limit == b.thread_limit &&
         a.dynamic == b.dynamic && a.run_schedule.kind == b.run_schedule.kind &&
         a.run_schedule.chunk == b.run_schedule.chunk && a.allocator == b.allocator &&
         a.nthreads_tail == b.nthreads_tail && a.default_device == b.default_device;
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
    // A tool is there from the start or never.
    const auto run = ompt::on() ? run_persistent_member<true> : run_persistent_member<false>;
    root->persistent_team = new (std::nothrow)
        core::PersistentTeam(run, nudge_persistent_member, root->outermost_team, root->outermost_team);
    if (root->persistent_team == nullptr || root->outermost_team == nullptr)
      base::lacking("no memory for a team of threads");
    root->outermost_team->persistent_team = root->persistent_team;
    root->outermost_team->size = 1;
  }
  return true;
}

// Makes the outermost team fit the region; false when the system refuses the threads.
bool fit_persistent_team(Root* root, Member* parent, int& size, base::ProcBind bind) noexcept {
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
  // With other seats the members have to look for theirs anew.
  if (wanted.affinity && set_seats(team, parent, size, bind)) root->persistent_fits = false;
  if (team->size == size && team->level == level && same(team->icvs, wanted) && root->persistent_fits) return true;
  team->first_loop = root->primary.loops;
  team->first_single = root->primary.singles;
  team->barrier.passed.store(root->primary.barriers, std::memory_order_relaxed);
  team->size = size;
  team->level = level;
  team->active_level = 1;
  team->icvs = wanted;
  team->flat = size <= core::slots() && (!wanted.affinity || has_room(team->places.placement));
  reserve_members(team, size);
  for (int i = 0; i < size; ++i) team->members.lines[i].reset(root->primary.barriers);
  ++root->persistent_version;
  root->persistent_fits = true;
  enter_team(&root->primary, team, 0);
  if (wanted.affinity) take_seat(&root->primary);
  return true;
}

// The root whose persistent team may run a region of `parent`: nothing but regions of one member lies around it. Each
// team is looked at, since those of a league and of target regions count their levels from 0.
Root* outermost(const Member* parent) noexcept {
  while (parent->team->active_level == 0) {
    if (parent->team->root != nullptr) return parent->team->root;
    // A free agent runs beside the persistent team.
    if (parent->team->agent_of != nullptr) return nullptr;
    parent = parent->outer;
    // The levels around an initial thread of a league inside a target region are not in its own count.
    if (parent->team->active_level > 0) return nullptr;
  }
  return nullptr;
}

// `size` becomes what the system has threads for; false, and less than 2, when it has none.
template <bool Told>
bool begin_persistent_team(Root* root, Member* parent, int& size, void* const* words, base::ProcBind bind) noexcept {
  core::Context* context = core::attach();
  if (root->generation != platform::generation()) {
    // The persistent team was our parent process's.
    root->persistent_team = nullptr;
    root->persistent_fits = false;
    root->no_persistent_team = false;
    root->generation = platform::generation();
  }
  if (!make_persistent_team(root) || !fit_persistent_team(root, parent, size, bind)) return false;
  core::enter_region(context, size);
  watch(root->outermost_team, size, context, words);
  if (ompt::on<Told>()) ompt::begin_parallel(root->outermost_team, parent);
  core::PersistentTeam* persistent_team = root->persistent_team;
  for (int i = 1; i < size; ++i) {
    void** line = persistent_team->member(i).post.words;
    for (int k = 0; k < kVersionWord; ++k) line[k] = words[k];
    line[kVersionWord] = reinterpret_cast<void*>(uintptr_t{root->persistent_version});
  }
  persistent_team->start(size);
  Member* primary = &root->primary;
  primary->outer = parent;
  make_current<Told>(primary);
  return true;
}

template <bool Told>
void end_persistent_team(Member* primary) noexcept {
  Team* team = primary->team;
  if (ompt::on<Told>()) ompt::end_primary(primary, true);
  if (!team->persistent_team->finish(team->tasks.tasked)) {
    help_with_tasks(primary);
    team->tasks.closing.store(true, std::memory_order_relaxed);
    team->persistent_team->finish_by([primary](auto&& done) { wait_helping(primary, done); });
  }
  if (team->tasks.tasked.load(std::memory_order_relaxed)) drain_at_end(primary);
  if (team->policy.site != nullptr) end_watched(team);
  end_watch(primary);
  if (team->cancelled.load(std::memory_order_relaxed)) {
    restore_after_cancellation(team, primary);
    // The members stand at different constructs: the next region sets them up anew.
    outermost(primary->outer)->persistent_fits = false;
  }
  primary->implicit.icvs = &team->icvs;
  if (ompt::on<Told>()) ompt::end_parallel(primary);
  make_current<Told>(primary->outer);
  core::leave_region(primary->context);
}

template <bool Told>
void invoke_primary(Invoke invoke, void* const* words) noexcept {
  if (ompt::on<Told>()) ompt::begin_member(self());
  invoke(words, 0);
}

enum class Kind { alone, persistent_team, woven };

// How a region of `size` members is run, which may become less; that of a persistent team has begun. The region gives
// back what it cannot use of its grant.
template <bool Told>
Kind begin(Member* parent, int& size, void* const* words, base::ProcBind bind, ThreadGrant* grant) noexcept {
  if (size == 1) return Kind::alone;
  start_runtime();
  Root* root = outermost(parent);
  const int wanted = size;
  const bool persistent_team = root != nullptr && begin_persistent_team<Told>(root, parent, size, words, bind);
  if (size < wanted) reduce(grant, size - 1);
  if (persistent_team) return Kind::persistent_team;
  if (size == 1) return Kind::alone;
  // Without a second context nobody could go on when a member waits for another.
  // Nor is there to be a second member, where its turn may not come.
  return core::has_spare() && !core::threads_refused() ? Kind::woven : Kind::alone;
}

}  // namespace

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

void end_identity() noexcept {
  if (ompt::on()) ompt::end_worker();
  if (t_persistent_member != nullptr) put_frame(t_persistent_member);
  t_persistent_member = nullptr;
  make_current(nullptr);
  put_record_cache();
}

int planned_team_size(Member* self, int requested) noexcept { return team_size(self, requested); }

template <bool Told>
void parallel(Invoke invoke, void** words, Clauses clauses) noexcept {
  Member* parent = own_member<Told>();
  words[0] = reinterpret_cast<void*>(invoke);
  int size = team_size(parent, clauses.threads);
  ThreadGrant grant = within_limit(parent, &size);
  count_region(parent->team->level + 1);
  switch (begin<Told>(parent, size, words, clauses.bind, &grant)) {
    case Kind::persistent_team:
      invoke_primary<Told>(invoke, words);
      end_persistent_team<Told>(own_member<Told>());
      break;
    case Kind::woven: {
      Member* member = take_frame();
      begin_woven<Told>(parent, size, words, clauses.bind, member);
      invoke_primary<Told>(invoke, words);
      end_woven<Told>(member);
      put_frame(member);
      break;
    }
    case Kind::alone: {
      Member member;
      begin_alone<Told>(parent, &member);
      invoke_primary<Told>(invoke, words);
      end_alone<Told>(&member);
      break;
    }
  }
  if (grant.threads > 0) give_back(&grant);
}

template void parallel<false>(Invoke invoke, void** words, Clauses clauses) noexcept;
template void parallel<true>(Invoke invoke, void** words, Clauses clauses) noexcept;

void parallel_gang(Invoke invoke, void** words, int size) noexcept {
  Member* parent = self();
  words[0] = reinterpret_cast<void*>(invoke);
  ThreadGrant grant = has_limit(parent) ? take_over_grant(parent, size) : ThreadGrant();
  count_region(parent->team->level + 1);
  Root* root = outermost(parent);
  int lent = 0;
  constexpr auto kNoClause = base::ProcBind::false_;
  // Members that share an OS thread do not run at the same time.
  if (root != nullptr && icvs(parent).affinity && would_share_threads(parent, size)) root = nullptr;
  int members = size;
  const bool persistent_team = root != nullptr && begin_persistent_team<true>(root, parent, members, words, kNoClause);
  if (members < size) {
    base::lacking("the system refuses the threads that OpenBLAS needs to go on (see ulimit -u, -v)");
  }
  if (persistent_team) {
    if (!core::alone()) lent = core::lend_threads(members - 1 - core::idle_carriers());
    invoke_primary<true>(invoke, words);
    end_persistent_team<true>(self());
  } else {
    Member* member = take_frame();
    begin_woven<true>(parent, size, words, kNoClause, member);
    const Missing missing = begin_gang(member->team, size);
    lent = core::lend_threads(missing.members - missing.idle);
    core::summon(member->team, missing.members);
    invoke_primary<true>(invoke, words);
    end_woven<true>(member);
    put_frame(member);
  }
  core::return_threads(lent);
  if (grant.threads > 0) give_back(&grant);
  end_gang();
}

void begin_parallel(Invoke invoke, void** words, Clauses clauses) noexcept {
  Member* parent = self();
  words[0] = reinterpret_cast<void*>(invoke);
  int size = team_size(parent, clauses.threads);
  ThreadGrant grant = within_limit(parent, &size);
  count_region(parent->team->level + 1);
  switch (begin<true>(parent, size, words, clauses.bind, &grant)) {
    case Kind::persistent_team: break;
    case Kind::woven: begin_woven<true>(parent, size, words, clauses.bind, take_frame()); break;
    case Kind::alone: begin_alone<true>(parent, take_frame()); break;
  }
  Member* member = self();
  member->team->threads.grant = grant;
  if (ompt::on()) ompt::begin_member(member);
}

template <bool Told>
void end_parallel() noexcept {
  Member* member = own_member<Told>();
  // Of a record that others may have as soon as the region has ended.
  ThreadGrant grant = std::exchange(member->team->threads.grant, {});
  if (member->team->persistent_team != nullptr) {
    end_persistent_team<Told>(member);
  } else {
    if (member->team->size == 1) {
      end_alone<Told>(member);
    } else {
      end_woven<Told>(member);
    }
    put_frame(member);
  }
  if (grant.threads > 0) give_back(&grant);
}

template void end_parallel<false>() noexcept;
template void end_parallel<true>() noexcept;

template <bool Told>
void begin_serial() noexcept {
  Member* parent = own_member<Told>();
  count_region(parent->team->level + 1);
  begin_alone<Told>(parent, take_frame());
  if (ompt::on<Told>()) ompt::begin_member(self());
}
template void begin_serial<false>() noexcept;
template void begin_serial<true>() noexcept;

}  // namespace weft::openmp
