// SPDX-License-Identifier: Apache-2.0
// Threads, parallel regions and implicit tasks.
#include <utility>

#include "openmp/ompt/callbacks.h"
#include "openmp/record/team.h"
#include "openmp/team/barrier.h"
#include "openmp/tool/event_bodies.h"

namespace weft::openmp::ompt {

namespace {

constexpr auto kEndOfRegion = ompt_sync_region_barrier_implicit_parallel;

void begin_thread(ompt_thread_t kind) noexcept {
  if (t_thread.begun) return;
  t_thread.begun = true;
  t_thread.data = {};
  call<ompt_callback_thread_begin_t>(ompt_callback_thread_begin, kind, &t_thread.data);
}

void implicit_task(ompt_scope_endpoint_t endpoint, Member* member, unsigned size, unsigned number) noexcept {
  Task& task = member->implicit;
  // At its end the region may be over: the specification has neither it nor its size then.
  const bool begins = endpoint == ompt_scope_begin;
  call<ompt_callback_implicit_task_t>(ompt_callback_implicit_task, endpoint, begins ? parallel_data(member) : nullptr,
                                      &task.tool.data, begins ? size : 0, number, task.tool.flags);
}

void set_up(Task& task, int flags) noexcept {
  task.tool = {};
  task.tool.flags = flags;
}

// Where the program's code begins for a task: `from` is the top of the runtime's frames.
void set_exit_frame(Task& task, void* from) noexcept {
  task.tool.frame.exit_frame.ptr = from;
  task.tool.frame.exit_frame_flags = ompt_frame_runtime | ompt_frame_stackaddress;
}

void set_up(Team* team, const void* caller, int flags) noexcept {
  team->tool.own = {};
  team->tool.data = &team->tool.own;
  team->tool.caller = caller;
  team->tool.flags = flags;
  team->tool.reported = true;
  team->tool.loop = nullptr;
}

void tell_loop(const TeamInfo& region) noexcept {
  const weft_callback_loop_t callback = g_loop_callback.load(std::memory_order_acquire);
  if (callback == nullptr) return;
  const LoopTotals& sums = *region.loop;
  const base::KeepErrno keep;
  const weft_loop_totals_t totals{sums.iterations, sums.ranges.load(std::memory_order_relaxed),
                                  sums.ranges_of_others.load(std::memory_order_relaxed),
                                  sums.members.load(std::memory_order_relaxed), sums.whole ? 1 : 0};
  callback(region.data, &totals);
}

// A region as the program knows it: the program called the runtime, and the runtime calls the outlined functions.
constexpr int kFlags = ompt_parallel_invoker_runtime;

unsigned requested(const Member* parent) noexcept {
  const int said = t_thread.requested > 0 ? t_thread.requested : icvs(const_cast<Member*>(parent)).nthreads;
  return static_cast<unsigned>(said);
}

unsigned size_of(const Member* member) noexcept { return static_cast<unsigned>(member->team->size); }
unsigned number_of(const Member* member) noexcept { return static_cast<unsigned>(member->number); }

void begin_end(Member* member) noexcept {
  close_work(member);
  member->implicit.tool.frame.exit_frame.ptr = nullptr;
  sync_region(kEndOfRegion, ompt_scope_begin, member, member->team->tool.caller);
  sync_region_wait(kEndOfRegion, ompt_scope_begin, member, member->team->tool.caller);
  t_thread.state = ompt_state_wait_barrier_implicit_parallel;
}

void end_end(Member* member) noexcept {
  const void* caller = member->team->tool.caller;
  for (const ompt_callbacks_t event : {ompt_callback_sync_region_wait, ompt_callback_sync_region}) {
    call<ompt_callback_sync_region_t>(event, kEndOfRegion, ompt_scope_end, nullptr, task_data(member), caller);
  }
  implicit_task(ompt_scope_end, member, size_of(member), number_of(member));
}

}  // namespace

void begin_root(Member* initial) noexcept {
  begin_thread(ompt_thread_initial);
  set_up(initial->team, nullptr, 0);
  set_up(initial->implicit, ompt_task_initial);
  t_thread.state = ompt_state_work_serial;
  implicit_task(ompt_scope_begin, initial, 1, 1);
}

void end_root(Member* initial) noexcept {
  if (!t_thread.begun) return;
  implicit_task(ompt_scope_end, initial, 0, 1);
  end_worker();
}

void end_worker() noexcept {
  if (!t_thread.begun) return;
  call<ompt_callback_thread_end_t>(ompt_callback_thread_end, &t_thread.data);
  t_thread = {};
}

void begin_parallel(Team* team, Member* parent) noexcept {
  if (t_thread.in_league) {
    t_thread.in_league = false;
    set_up(team, nullptr, kHidden);
    return;
  }
  set_up(team, t_thread.caller, kFlags | static_cast<int>(ompt_parallel_team));
  call<ompt_callback_parallel_begin_t>(ompt_callback_parallel_begin, task_data(parent),
                                       &std::as_const(parent->task->tool.frame), team->tool.data, requested(parent),
                                       team->tool.flags, team->tool.caller);
}

void begin_member(Member* member) noexcept {
  begin_thread(ompt_thread_worker);
  member->tool = {};
  if (is_hidden(member->team)) return;
  set_up(member->implicit, ompt_task_implicit);
  t_thread.state = ompt_state_work_parallel;
  implicit_task(ompt_scope_begin, member, size_of(member), number_of(member));
  set_exit_frame(member->implicit, __builtin_dwarf_cfa());
}

void begin_agent(Member* agent) noexcept {
  begin_thread(ompt_thread_worker);
  agent->tool = {};
  set_up(agent->team, nullptr, 0);
  set_up(agent->implicit, ompt_task_initial);
  implicit_task(ompt_scope_begin, agent, 1, 1);
}

void end_agent(Member* agent) noexcept { implicit_task(ompt_scope_end, agent, 0, 1); }

void begin_stand_in(Member* member) noexcept {
  begin_thread(ompt_thread_worker);
  member->tool = {};
  set_up(member->implicit, ompt_task_initial);
  implicit_task(ompt_scope_begin, member, 1, 1);
}

void end_stand_in(Member* member) noexcept { implicit_task(ompt_scope_end, member, 0, 1); }

void end_member(Member* member, bool with_barrier) noexcept {
  const bool hidden = is_hidden(member->team);
  if (!hidden) begin_end(member);
  if (with_barrier) pass_barrier(member);
  if (!hidden) end_end(member);
  t_thread.state = ompt_state_idle;
}

void end_primary(Member* primary, bool with_barrier) noexcept {
  if (!is_hidden(primary->team)) begin_end(primary);
  if (with_barrier) pass_barrier(primary);
}

void end_parallel(Member* primary) noexcept {
  const Member* parent = primary->outer;
  t_thread.state = parent->team->level > 0 ? ompt_state_work_parallel : ompt_state_work_serial;
  TeamInfo& region = primary->team->tool;
  region.reported = false;
  if (is_hidden(primary->team)) return;
  end_end(primary);
  if (region.loop != nullptr) tell_loop(region);
  call<ompt_callback_parallel_end_t>(ompt_callback_parallel_end, region.data, task_data(parent), region.flags,
                                     region.caller);
}

void begin_league(Member* encountering, int teams, TeamInfo* league) noexcept {
  league->caller = t_thread.caller;
  league->flags = kFlags | ompt_parallel_league;
  t_thread.in_league = teams > 1;
  call<ompt_callback_parallel_begin_t>(ompt_callback_parallel_begin, task_data(encountering),
                                       &std::as_const(encountering->task->tool.frame), league->data,
                                       static_cast<unsigned>(teams), league->flags, league->caller);
}

void end_league(Member* encountering, TeamInfo* league) noexcept {
  call<ompt_callback_parallel_end_t>(ompt_callback_parallel_end, league->data, task_data(encountering), league->flags,
                                     league->caller);
}

void begin_initial(Member* initial, TeamInfo* league) noexcept {
  begin_thread(ompt_thread_worker);
  Team* team = initial->team;
  set_up(team, league->caller, league->flags);
  team->tool.data = league->data;
  initial->tool = {};
  set_up(initial->implicit, ompt_task_initial);
  t_thread.state = ompt_state_work_serial;
  implicit_task(ompt_scope_begin, initial, static_cast<unsigned>(team->league.size),
                static_cast<unsigned>(team->league.number));
  set_exit_frame(initial->implicit, __builtin_dwarf_cfa());
}

void end_initial(Member* initial) noexcept {
  close_work(initial);
  implicit_task(ompt_scope_end, initial, static_cast<unsigned>(initial->team->league.size),
                static_cast<unsigned>(initial->team->league.number));
}

}  // namespace weft::openmp::ompt
