// SPDX-License-Identifier: Apache-2.0
#include "openmp/region/league.h"

#include <algorithm>

#include "base/options.h"
#include "openmp/affinity/team_affinity.h"
#include "openmp/record/record_cache.h"
#include "openmp/region/region.h"
#include "openmp/settings/icv.h"
#include "openmp/task/lone_tasks.h"
#include "openmp/task/task.h"
#include "openmp/team/reduction_tree.h"
#include "openmp/tool/events.h"

namespace weft::openmp {

namespace {

// Relaxed: a value is all that passes.
std::atomic<int>& teams_variable() noexcept {
  static std::atomic<int> value{base::options().num_teams};
  return value;
}

std::atomic<int>& limit_variable() noexcept {
  static std::atomic<int> value{base::options().teams_thread_limit};
  return value;
}

struct League {
  Invoke invoke;
  void** words;
  int teams;
  Icvs icvs;
  tool::TeamInfo tool;
  LeagueTurn* turn = nullptr;
};

League make_league(Invoke invoke, void** words, int teams, int thread_limit) noexcept {
  League league{invoke, words, teams, icvs(self()), {}};
  if (thread_limit > 0) set_thread_limit(league.icvs, thread_limit);
  return league;
}

// The initial thread of team `number`: to it, nothing is around it.
void run_team(League& league, int number) noexcept {
  Member* parent = self();
  Member* member = take_frame();
  Team* team = take_team(RegionKind::none);
  team->size = 1;
  team->level = 0;
  team->active_level = 0;
  team->parent = parent;
  team->icvs = league.icvs;
  team->league.size = league.teams;
  team->league.number = number;
  team->league.turn = league.turn;
  member->outer = parent;
  enter_team(member, team, 0);
  if (team->icvs.affinity) inherit_place(team, parent);
  team->tool.reported = tool::is_on();
  make_current(member);
  tool::begin_initial(member, &league.tool);
  league.invoke(league.words, 0);
  if (team->defers_alone) {
    end_deferring(member);
  } else if (team->tasks.detachable.load(std::memory_order_relaxed)) {
    await_events(member);
  }
  tool::end_initial(member);
  team->first_loop = member->loops;
  team->first_single = member->singles;
  team->league.turn = nullptr;
  team->tool.reported = false;
  make_current(parent);
  put_team(team);
  put_frame(member);
}

// The members may be fewer than the teams.
void run_teams(void* const* words, int number) noexcept {
  auto& league = *static_cast<League*>(words[1]);
  const int members = self()->team->size;
  for (int i = number; i < league.teams; i += members) run_team(league, i);
}

}  // namespace

int league_size() noexcept { return teams_variable().load(std::memory_order_relaxed); }
void set_league_size(int teams) noexcept { teams_variable().store(std::max(teams, 0), std::memory_order_relaxed); }
int league_thread_limit() noexcept { return limit_variable().load(std::memory_order_relaxed); }
void set_league_thread_limit(int threads) noexcept {
  limit_variable().store(std::max(threads, 0), std::memory_order_relaxed);
}

void run_initial_team(Invoke invoke, void** words, int thread_limit) noexcept {
  // The ICVs of a device are those the environment gives (section 2.2), whatever the task that meets the region has
  // set.
  League league{invoke, words, 1, initial_icvs(), {}};
  if (thread_limit > 0) set_thread_limit(league.icvs, thread_limit);
  run_team(league, 0);
}

void run_league(Invoke invoke, void** words, int teams, int thread_limit) noexcept {
  if (teams <= 0) teams = std::max(league_size(), 1);
  if (thread_limit <= 0) thread_limit = league_thread_limit();
  League league = make_league(invoke, words, teams, thread_limit);
  LeagueTurn turn;
  tool::begin_league(self(), teams, &league.tool);
  if (teams == 1) {
    run_team(league, 0);
  } else {
    league.turn = &turn;
    void* packed[core::Post::kWords] = {nullptr, &league};
    // Each team gets a part of the places for its regions.
    parallel(run_teams, packed, {teams, base::ProcBind::spread});
  }
  tool::end_league(self(), &league.tool);
}

}  // namespace weft::openmp
