// SPDX-License-Identifier: Apache-2.0
#include "openmp/region/woven.h"

#include "core/api/fork.h"
#include "core/api/records.h"
#include "openmp/affinity/team_affinity.h"
#include "openmp/library/nested_blas.h"
#include "openmp/record/record_cache.h"
#include "openmp/region/inherit.h"
#include "openmp/region/watch.h"
#include "openmp/task/stand_in.h"
#include "openmp/task/task.h"
#include "openmp/task/task_calls.h"
#include "openmp/task/task_regions.h"
#include "openmp/task/task_wait.h"
#include "openmp/team/barrier.h"
#include "openmp/team/cancel.h"
#include "platform/fence.h"

namespace weft::openmp {

namespace {

// Two functions, of which the region picks one: without a tool, and in a region that the tool does not want, members
// ask for none. The thread may be another region's, which the tool is told of or not.
template <tool::Listener listener>
void run_member(core::ParallelCall* parallel_call, int index) {
  auto* team = static_cast<Team*>(parallel_call);
  const CallerIdentity before;
  Member* member = take_frame();
  member->outer = before.member();
  enter_team(member, team, index);
  if (team->icvs.affinity) take_place(member);
  continue_as(member, listener);
  tool::begin_member(listener, member);
  reinterpret_cast<Invoke>(team->words[0])(team->words.data(), index);
  if (team->gathers) pass_barrier(member);
  if (team->tasks.tasked.load(std::memory_order_relaxed)) {
    help_with_tasks(member);
    // Children count themselves in this implicit task, whose record serves again.
    await_children(member);
  }
  tool::end_member(listener, member, false);
  before.put_back();
  put_frame(member);
}

// Waits for the other members at the end of the region, and runs tasks that they push meanwhile.
void join_members(Member* primary) noexcept {
  Team* team = primary->team;
  const auto joined_all = [team] { return team->pending.load(std::memory_order_acquire) == 0; };
  if (holds_up_others(primary)) {
    // It leaves to others what nobody has claimed: a member that waits for one of those here is to be told of its
    // pauses.
    team->sleeper.store(primary->context, std::memory_order_release);
    platform::full_fence();
    wait_helping(primary, joined_all);
    core::join(team);
    return;
  }
  if (!team->tasks.tasked.load(std::memory_order_relaxed) && core::join(team, team->tasks.tasked)) return;
  // Members that no carrier has claimed go first; a member that pushes a task is to find this one all the same, however
  // many are still unclaimed: as long as a call has not been answered, nobody else is called.
  do {
    help_with_tasks(primary);
    fall_asleep(primary);
    const bool joined = core::join(team, team->tasks.tasked);
    if (wake_up(primary)) answer_call(primary, !joined);
    if (joined) return;
  } while (team->claimable());
  // Against the last of the members, as in join().
  team->sleeper.store(primary->context, std::memory_order_release);
  platform::full_fence();
  wait_helping(primary, joined_all);
  core::join(team);
}

}  // namespace

void WovenRegion::begin(const Opening& opening) noexcept {
  const tool::Listener listener = tool::listener();
  Member* parent = opening.parent;
  const int size = opening.size;
  void* const* words = opening.words;
  Member* primary = primary_ = take_frame();
  core::Context* context = core::attach();
  if (context->home != nullptr) core::enter_region(context, size);
  std::atomic<bool>& nests = parent->team->nests;
  if (!nests.load(std::memory_order_relaxed)) nests.store(true, std::memory_order_relaxed);
  Team* team = take_team(RegionKind::woven);
  set_up(team, parent, size, words);
  team->call =
      listener == tool::Listener::none ? run_member<tool::Listener::none> : run_member<tool::Listener::possible>;
  // To a tool a barrier would be one more.
  // Of members that may be left out it cannot be asked.
  team->gathers = !tool::is_on(listener) && opening.prepare == nullptr && pushes_tasks(words[1]);
  primary->outer = parent;
  enter_team(primary, team, 0);
  if (team->icvs.affinity) begin_placement(primary, parent, opening.bind);
  watch(team, size, context, words);
  tool::begin_parallel(listener, team, parent);
  team->partial = opening.prepare != nullptr;
  team->started = opening.prepare != nullptr ? opening.prepare(team, words) : size;
  core::publish(team, team->started);
  continue_as(primary, listener);
}

int WovenRegion::gather(bool lends) noexcept {
  Team* team = primary_->team;
  // Carriers of all NUMA nodes are counted, so all may come. Relaxed: summon() calls them after this.
  team->gang.store(true, std::memory_order_relaxed);
  const Missing missing = begin_gang(team, team->size);
  const int lent = lends ? core::lend_threads(missing.members - missing.idle) : 0;
  core::summon(team, missing.members);
  return lent;
}

void WovenRegion::begin_others(void* const*, int members) noexcept {
  primary_->team->started = members;
  core::publish_again(primary_->team, members);
}

void WovenRegion::end() noexcept {
  Member* primary = primary_;
  Team* team = primary->team;
  tool::end_primary(primary, false);
  if (team->gathers) pass_barrier(primary);
  if (team->partial) core::withdraw(team);
  join_members(primary);
  const bool tasked = team->tasks.tasked.load(std::memory_order_relaxed);
  if (tasked || team->gathers) note_tasks(team->words[1], tasked);
  if (tasked) drain_at_end(primary);
  if (team->policy.site != nullptr) end_watched(team);
  end_watch(primary);
  forget_cancelled_loop(team);
  if (team->cancelled.load(std::memory_order_relaxed)) restore_after_cancellation(team, primary);
  team->first_loop = primary->loops;
  team->first_single = primary->singles;
  tool::end_parallel(primary);
  continue_as(primary->outer);
  if (primary->context->home != nullptr) core::leave_region(primary->context);
  put_team(team);
  put_frame(primary);
}

}  // namespace weft::openmp
