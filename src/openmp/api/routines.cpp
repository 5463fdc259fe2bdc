// SPDX-License-Identifier: Apache-2.0
// The omp_* routines (OpenMP 5.2, section 18), for C and, with arguments by reference and an underscore, for
// Fortran; `_8_` is Fortran with -fdefault-integer-8. One implementation for both ABIs.
#include <algorithm>
#include <climits>
#include <ctime>

#include "base/message.h"
#include "base/options.h"
#include "openmp/abi/abi.h"
#include "openmp/api/lock.h"
#include "openmp/library/nested_blas.h"
#include "openmp/ompt/events.h"
#include "openmp/settings/display_env.h"
#include "openmp/settings/icv.h"
#include "openmp/team/cancel.h"
#include "openmp/team/league.h"
#include "openmp/team/team.h"

#include <new>

using namespace weft;
using namespace weft::openmp;

namespace {

// omp_sched_t: the kind, and bit 31 for the monotonic modifier.
constexpr unsigned kStatic = 1, kDynamic = 2, kGuided = 3, kAuto = 4;
constexpr unsigned kMonotonic = 0x80000000u;

void set_num_threads(int threads, const void* caller) noexcept {
  if (threads <= 0) {
    base::warn("omp_set_num_threads(%d): the number must be positive; the call has no effect", threads);
    return;
  }
  if (is_own_answer(threads, caller)) return;
  own_icvs(self()).nthreads = threads;
}

// Fortran's 8-byte integers: what is out of range stays so.
int narrow(int64_t value) noexcept { return static_cast<int>(std::clamp<int64_t>(value, INT_MIN, INT_MAX)); }

void set_schedule(unsigned kind, int chunk) noexcept {
  using Kind = base::LoopSchedule::Kind;
  base::LoopSchedule schedule{};
  switch (kind & ~kMonotonic) {
    case kStatic: schedule.kind = Kind::static_; break;
    case kDynamic: schedule.kind = Kind::dynamic; break;
    case kGuided: schedule.kind = Kind::guided; break;
    case kAuto: schedule.kind = Kind::auto_; break;
    default: base::warn("omp_set_schedule(%u, %d): no such kind; the call has no effect", kind, chunk); return;
  }
  schedule.monotonic = (kind & kMonotonic) != 0;
  schedule.chunk = chunk > 0 ? chunk : 0;
  // An unset chunk means 1, but for static one block a member.
  if (schedule.chunk == 0 && schedule.kind != Kind::static_) schedule.chunk = 1;
  own_icvs(self()).run_schedule = schedule;
}

unsigned schedule_kind(const base::LoopSchedule& schedule) noexcept {
  using Kind = base::LoopSchedule::Kind;
  unsigned kind = kDynamic;
  if (schedule.kind == Kind::static_) kind = kStatic;
  if (schedule.kind == Kind::guided) kind = kGuided;
  if (schedule.kind == Kind::auto_) kind = kAuto;
  return schedule.monotonic ? kind | kMonotonic : kind;
}

// The member that the caller descends from at nesting level `level`, or null.
const Member* ancestor(int level) noexcept {
  const Member* member = self();
  if (level < 0 || level > member->team->level) return nullptr;
  while (member->team->level > level) member = member->team->parent;
  return member;
}

double wtime() noexcept {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double wtick() noexcept {
  timespec resolution;
  clock_getres(CLOCK_MONOTONIC, &resolution);
  return static_cast<double>(resolution.tv_sec) + 1e-9 * static_cast<double>(resolution.tv_nsec);
}

int supported_levels() noexcept { return INT_MAX; }

void set_max_active_levels(int levels) noexcept {
  if (levels < 0) {
    base::warn("omp_set_max_active_levels(%d): the number must not be negative; the call has no effect", levels);
    return;
  }
  own_icvs(self()).max_active_levels = levels;
}

// Those of the team that the current task belongs to.
int team_threads() {
  const Member* member = current_member();
  if (member == nullptr) return 1;
  const Team* team = member->team;
  return team->agent_of != nullptr ? team->agent_of->size : team->size;
}

}  // namespace

// ---- threads ----

WEFT_ABI void weft_abi_omp_set_num_threads(int value) { set_num_threads(value, __builtin_return_address(0)); }
WEFT_ABI_EXPORT(omp_set_num_threads);

WEFT_ABI void weft_abi_omp_set_num_threads_(const int32_t* value) {
  set_num_threads(*value, __builtin_return_address(0));
}
WEFT_ABI_EXPORT(omp_set_num_threads_);

WEFT_ABI void weft_abi_omp_set_num_threads_8_(const int64_t* value) {
  set_num_threads(narrow(*value), __builtin_return_address(0));
}
WEFT_ABI_EXPORT(omp_set_num_threads_8_);

WEFT_ABI int weft_abi_omp_get_num_threads() { return team_threads(); }
WEFT_ABI_EXPORT(omp_get_num_threads);

WEFT_ABI int weft_abi_omp_get_num_threads_() { return team_threads(); }
WEFT_ABI_EXPORT(omp_get_num_threads_);

WEFT_ABI int weft_abi_omp_get_thread_num() { return current_number(); }
WEFT_ABI_EXPORT(omp_get_thread_num);

WEFT_ABI int weft_abi_omp_get_thread_num_() { return current_number(); }
WEFT_ABI_EXPORT(omp_get_thread_num_);

WEFT_ABI int weft_abi_omp_get_max_threads() { return max_threads(self(), __builtin_return_address(0)); }
WEFT_ABI_EXPORT(omp_get_max_threads);

WEFT_ABI int weft_abi_omp_get_max_threads_() { return max_threads(self(), __builtin_return_address(0)); }
WEFT_ABI_EXPORT(omp_get_max_threads_);

WEFT_ABI int weft_abi_omp_get_num_procs() { return num_procs(); }
WEFT_ABI_EXPORT(omp_get_num_procs);

WEFT_ABI int weft_abi_omp_get_num_procs_() { return num_procs(); }
WEFT_ABI_EXPORT(omp_get_num_procs_);

WEFT_ABI int weft_abi_omp_get_thread_limit() { return icvs(self()).thread_limit; }
WEFT_ABI_EXPORT(omp_get_thread_limit);

WEFT_ABI int weft_abi_omp_get_thread_limit_() { return icvs(self()).thread_limit; }
WEFT_ABI_EXPORT(omp_get_thread_limit_);

WEFT_ABI int weft_abi_omp_in_parallel() {
  Member* member = current_member();
  return member != nullptr ? in_parallel(member, __builtin_return_address(0)) : 0;
}
WEFT_ABI_EXPORT(omp_in_parallel);

WEFT_ABI int weft_abi_omp_in_parallel_() {
  Member* member = current_member();
  return member != nullptr ? in_parallel(member, __builtin_return_address(0)) : 0;
}
WEFT_ABI_EXPORT(omp_in_parallel_);

WEFT_ABI int weft_abi_omp_in_final() { return self()->task->final ? 1 : 0; }
WEFT_ABI_EXPORT(omp_in_final);

WEFT_ABI int weft_abi_omp_in_final_() { return self()->task->final ? 1 : 0; }
WEFT_ABI_EXPORT(omp_in_final_);

// ---- levels ----

WEFT_ABI int weft_abi_omp_get_level() { return current_level(); }
WEFT_ABI_EXPORT(omp_get_level);

WEFT_ABI int weft_abi_omp_get_level_() { return current_level(); }
WEFT_ABI_EXPORT(omp_get_level_);

WEFT_ABI int weft_abi_omp_get_active_level() { return current_active_level(); }
WEFT_ABI_EXPORT(omp_get_active_level);

WEFT_ABI int weft_abi_omp_get_active_level_() { return current_active_level(); }
WEFT_ABI_EXPORT(omp_get_active_level_);

WEFT_ABI int weft_abi_omp_get_ancestor_thread_num(int level) {
  return ancestor(level) != nullptr ? ancestor(level)->number : -1;
}
WEFT_ABI_EXPORT(omp_get_ancestor_thread_num);

WEFT_ABI int weft_abi_omp_get_ancestor_thread_num_(const int32_t* level_at) {
  const int level = *level_at;
  return ancestor(level) != nullptr ? ancestor(level)->number : -1;
}
WEFT_ABI_EXPORT(omp_get_ancestor_thread_num_);

WEFT_ABI int weft_abi_omp_get_ancestor_thread_num_8_(const int64_t* level_at) {
  const int level = narrow(*level_at);
  return ancestor(level) != nullptr ? ancestor(level)->number : -1;
}
WEFT_ABI_EXPORT(omp_get_ancestor_thread_num_8_);

WEFT_ABI int weft_abi_omp_get_team_size(int level) {
  return ancestor(level) != nullptr ? ancestor(level)->team->size : -1;
}
WEFT_ABI_EXPORT(omp_get_team_size);

WEFT_ABI int weft_abi_omp_get_team_size_(const int32_t* level_at) {
  const int level = *level_at;
  return ancestor(level) != nullptr ? ancestor(level)->team->size : -1;
}
WEFT_ABI_EXPORT(omp_get_team_size_);

WEFT_ABI int weft_abi_omp_get_team_size_8_(const int64_t* level_at) {
  const int level = narrow(*level_at);
  return ancestor(level) != nullptr ? ancestor(level)->team->size : -1;
}
WEFT_ABI_EXPORT(omp_get_team_size_8_);

WEFT_ABI int weft_abi_omp_get_max_active_levels() { return icvs(self()).max_active_levels; }
WEFT_ABI_EXPORT(omp_get_max_active_levels);

WEFT_ABI int weft_abi_omp_get_max_active_levels_() { return icvs(self()).max_active_levels; }
WEFT_ABI_EXPORT(omp_get_max_active_levels_);

WEFT_ABI int weft_abi_omp_get_supported_active_levels() { return supported_levels(); }
WEFT_ABI_EXPORT(omp_get_supported_active_levels);

WEFT_ABI int weft_abi_omp_get_supported_active_levels_() { return supported_levels(); }
WEFT_ABI_EXPORT(omp_get_supported_active_levels_);

WEFT_ABI void weft_abi_omp_set_max_active_levels(int value) { set_max_active_levels(value); }
WEFT_ABI_EXPORT(omp_set_max_active_levels);

WEFT_ABI void weft_abi_omp_set_max_active_levels_(const int32_t* value) { set_max_active_levels(*value); }
WEFT_ABI_EXPORT(omp_set_max_active_levels_);

WEFT_ABI void weft_abi_omp_set_max_active_levels_8_(const int64_t* value) { set_max_active_levels(narrow(*value)); }
WEFT_ABI_EXPORT(omp_set_max_active_levels_8_);

WEFT_ABI int weft_abi_omp_get_nested() { return icvs(self()).max_active_levels > 1 ? 1 : 0; }
WEFT_ABI_EXPORT(omp_get_nested);

WEFT_ABI int weft_abi_omp_get_nested_() { return icvs(self()).max_active_levels > 1 ? 1 : 0; }
WEFT_ABI_EXPORT(omp_get_nested_);

namespace {
// Deprecated since 5.0: stands for a max-active-levels of 1 or of all that are supported.
void set_nested(int on) noexcept { own_icvs(self()).max_active_levels = on != 0 ? supported_levels() : 1; }
void set_dynamic(int on) noexcept { own_icvs(self()).dynamic = on != 0; }
}  // namespace

WEFT_ABI void weft_abi_omp_set_nested(int value) { set_nested(value); }
WEFT_ABI_EXPORT(omp_set_nested);

WEFT_ABI void weft_abi_omp_set_nested_(const int32_t* value) { set_nested(*value); }
WEFT_ABI_EXPORT(omp_set_nested_);

WEFT_ABI void weft_abi_omp_set_nested_8_(const int64_t* value) { set_nested(narrow(*value)); }
WEFT_ABI_EXPORT(omp_set_nested_8_);

// ---- dynamic, schedule ----

WEFT_ABI void weft_abi_omp_set_dynamic(int value) { set_dynamic(value); }
WEFT_ABI_EXPORT(omp_set_dynamic);

WEFT_ABI void weft_abi_omp_set_dynamic_(const int32_t* value) { set_dynamic(*value); }
WEFT_ABI_EXPORT(omp_set_dynamic_);

WEFT_ABI void weft_abi_omp_set_dynamic_8_(const int64_t* value) { set_dynamic(narrow(*value)); }
WEFT_ABI_EXPORT(omp_set_dynamic_8_);

WEFT_ABI int weft_abi_omp_get_dynamic() { return icvs(self()).dynamic ? 1 : 0; }
WEFT_ABI_EXPORT(omp_get_dynamic);

WEFT_ABI int weft_abi_omp_get_dynamic_() { return icvs(self()).dynamic ? 1 : 0; }
WEFT_ABI_EXPORT(omp_get_dynamic_);

WEFT_ABI void weft_abi_omp_set_schedule(unsigned kind, int chunk) { set_schedule(kind, chunk); }
WEFT_ABI_EXPORT(omp_set_schedule);

WEFT_ABI void weft_abi_omp_set_schedule_(const int32_t* kind, const int32_t* chunk) {
  set_schedule(static_cast<unsigned>(*kind), *chunk);
}
WEFT_ABI_EXPORT(omp_set_schedule_);

WEFT_ABI void weft_abi_omp_set_schedule_8_(const int32_t* kind, const int64_t* chunk) {
  set_schedule(static_cast<unsigned>(*kind), narrow(*chunk));
}
WEFT_ABI_EXPORT(omp_set_schedule_8_);

WEFT_ABI void weft_abi_omp_get_schedule(unsigned* kind, int* chunk) {
  const base::LoopSchedule& schedule = icvs(self()).run_schedule;
  *kind = static_cast<unsigned>(schedule_kind(schedule));
  *chunk = schedule.chunk;
}
WEFT_ABI_EXPORT(omp_get_schedule);

WEFT_ABI void weft_abi_omp_get_schedule_(int32_t* kind, int32_t* chunk) {
  const base::LoopSchedule& schedule = icvs(self()).run_schedule;
  *kind = static_cast<int32_t>(schedule_kind(schedule));
  *chunk = schedule.chunk;
}
WEFT_ABI_EXPORT(omp_get_schedule_);

WEFT_ABI void weft_abi_omp_get_schedule_8_(int32_t* kind, int64_t* chunk) {
  const base::LoopSchedule& schedule = icvs(self()).run_schedule;
  *kind = static_cast<int32_t>(schedule_kind(schedule));
  *chunk = schedule.chunk;
}
WEFT_ABI_EXPORT(omp_get_schedule_8_);

// ---- time ----

WEFT_ABI double weft_abi_omp_get_wtime() { return wtime(); }
WEFT_ABI_EXPORT(omp_get_wtime);

WEFT_ABI double weft_abi_omp_get_wtime_() { return wtime(); }
WEFT_ABI_EXPORT(omp_get_wtime_);

WEFT_ABI double weft_abi_omp_get_wtick() { return wtick(); }
WEFT_ABI_EXPORT(omp_get_wtick);

WEFT_ABI double weft_abi_omp_get_wtick_() { return wtick(); }
WEFT_ABI_EXPORT(omp_get_wtick_);

// ---- devices, teams: one device, one team ----

WEFT_ABI int weft_abi_omp_get_cancellation() { return cancellation_enabled() ? 1 : 0; }
WEFT_ABI_EXPORT(omp_get_cancellation);

WEFT_ABI int weft_abi_omp_get_cancellation_() { return cancellation_enabled() ? 1 : 0; }
WEFT_ABI_EXPORT(omp_get_cancellation_);

WEFT_ABI int weft_abi_omp_get_max_task_priority() { return base::options().max_task_priority; }
WEFT_ABI_EXPORT(omp_get_max_task_priority);

WEFT_ABI int weft_abi_omp_get_max_task_priority_() { return base::options().max_task_priority; }
WEFT_ABI_EXPORT(omp_get_max_task_priority_);

WEFT_ABI int weft_abi_omp_get_num_teams() { return self()->team->league.size; }
WEFT_ABI_EXPORT(omp_get_num_teams);

WEFT_ABI int weft_abi_omp_get_num_teams_() { return self()->team->league.size; }
WEFT_ABI_EXPORT(omp_get_num_teams_);

WEFT_ABI int weft_abi_omp_get_team_num() { return self()->team->league.number; }
WEFT_ABI_EXPORT(omp_get_team_num);

WEFT_ABI int weft_abi_omp_get_team_num_() { return self()->team->league.number; }
WEFT_ABI_EXPORT(omp_get_team_num_);

WEFT_ABI int weft_abi_omp_get_max_teams() { return league_size(); }
WEFT_ABI_EXPORT(omp_get_max_teams);

WEFT_ABI int weft_abi_omp_get_max_teams_() { return league_size(); }
WEFT_ABI_EXPORT(omp_get_max_teams_);

WEFT_ABI void weft_abi_omp_set_num_teams(int teams) { set_league_size(teams); }
WEFT_ABI_EXPORT(omp_set_num_teams);

WEFT_ABI void weft_abi_omp_set_num_teams_(const int* teams) { set_league_size(*teams); }
WEFT_ABI_EXPORT(omp_set_num_teams_);

WEFT_ABI void weft_abi_omp_set_num_teams_8_(const int64_t* teams) { set_league_size(narrow(*teams)); }
WEFT_ABI_EXPORT(omp_set_num_teams_8_);

WEFT_ABI void weft_abi_omp_set_teams_thread_limit(int threads) { set_league_thread_limit(threads); }
WEFT_ABI_EXPORT(omp_set_teams_thread_limit);

WEFT_ABI void weft_abi_omp_set_teams_thread_limit_(const int* threads) { set_league_thread_limit(*threads); }
WEFT_ABI_EXPORT(omp_set_teams_thread_limit_);

WEFT_ABI void weft_abi_omp_set_teams_thread_limit_8_(const int64_t* threads) {
  set_league_thread_limit(narrow(*threads));
}
WEFT_ABI_EXPORT(omp_set_teams_thread_limit_8_);

WEFT_ABI int weft_abi_omp_get_teams_thread_limit() { return league_thread_limit(); }
WEFT_ABI_EXPORT(omp_get_teams_thread_limit);

WEFT_ABI int weft_abi_omp_get_teams_thread_limit_() { return league_thread_limit(); }
WEFT_ABI_EXPORT(omp_get_teams_thread_limit_);

WEFT_ABI void weft_abi_omp_display_env(int verbose) { display_env(verbose != 0); }
WEFT_ABI_EXPORT(omp_display_env);

WEFT_ABI void weft_abi_omp_display_env_(const int32_t* verbose) { display_env(*verbose != 0); }
WEFT_ABI_EXPORT(omp_display_env_);

WEFT_ABI void weft_abi_omp_display_env_8_(const int64_t* verbose) { display_env(*verbose != 0); }
WEFT_ABI_EXPORT(omp_display_env_8_);

// ---- locks: the same memory for both ABIs, see lock.h ----

namespace {

LockWord& word_of(void* lock) noexcept { return *static_cast<LockWord*>(lock); }

void init(void* lock, int hint, const void* caller) noexcept {
  new (lock) LockWord(0);
  if (ompt::on()) ompt::init_lock(lock, ompt_mutex_lock, static_cast<unsigned>(hint), caller);
}

void destroy(const void* lock, const void* caller) noexcept {
  if (ompt::on()) ompt::destroy_lock(lock, ompt_mutex_lock, caller);
}

NestLock* nest_of(void* lock) noexcept {
  NestLock* nest = nullptr;
  __builtin_memcpy(&nest, lock, sizeof nest);
  return nest;
}

void init_nest(void* lock, int hint, const void* caller) noexcept {
  auto* nest = new (std::nothrow) NestLock;
  if (nest == nullptr) base::lacking("no memory for a nestable lock");
  __builtin_memcpy(lock, &nest, sizeof nest);
  if (ompt::on()) ompt::init_lock(nest, ompt_mutex_nest_lock, static_cast<unsigned>(hint), caller);
}

void destroy_nest(void* lock, const void* caller) noexcept {
  const NestLock* nest = nest_of(lock);
  if (ompt::on()) ompt::destroy_lock(nest, ompt_mutex_nest_lock, caller);
  delete nest;
}

void set_nest(void* at, const void* caller) noexcept { acquire(*nest_of(at), self()->task, caller); }
int test_nest(void* at, const void* caller) noexcept { return try_acquire(*nest_of(at), self()->task, caller); }
void unset_nest(void* at, const void* caller) noexcept { release(*nest_of(at), caller); }

}  // namespace

WEFT_ABI void weft_abi_omp_init_lock(void* lock) { init(lock, 0, WEFT_CALLER); }
WEFT_ABI_EXPORT(omp_init_lock);

// A hint about contention changes nothing: the lock adapts itself.
WEFT_ABI void weft_abi_omp_init_lock_with_hint(void* lock, int hint) { init(lock, hint, WEFT_CALLER); }
WEFT_ABI_EXPORT(omp_init_lock_with_hint);
WEFT_ABI void weft_abi_omp_init_lock_with_hint_(void* lock, const int32_t* hint) { init(lock, *hint, WEFT_CALLER); }
WEFT_ABI_EXPORT(omp_init_lock_with_hint_);

WEFT_ABI void weft_abi_omp_destroy_lock(void* lock) { destroy(lock, WEFT_CALLER); }
WEFT_ABI_EXPORT(omp_destroy_lock);

WEFT_ABI void weft_abi_omp_set_lock(void* at) { acquire(word_of(at), ompt_mutex_lock); }
WEFT_ABI_EXPORT(omp_set_lock);

WEFT_ABI void weft_abi_omp_unset_lock(void* at) { release(word_of(at), ompt_mutex_lock); }
WEFT_ABI_EXPORT(omp_unset_lock);

WEFT_ABI int weft_abi_omp_test_lock(void* at) { return try_acquire(word_of(at)) ? 1 : 0; }
WEFT_ABI_EXPORT(omp_test_lock);

WEFT_ABI void weft_abi_omp_init_nest_lock(void* lock) { init_nest(lock, 0, WEFT_CALLER); }
WEFT_ABI_EXPORT(omp_init_nest_lock);
WEFT_ABI void weft_abi_omp_init_nest_lock_with_hint(void* lock, int hint) { init_nest(lock, hint, WEFT_CALLER); }
WEFT_ABI_EXPORT(omp_init_nest_lock_with_hint);
WEFT_ABI void weft_abi_omp_init_nest_lock_with_hint_(void* lock, const int32_t* hint) {
  init_nest(lock, *hint, WEFT_CALLER);
}
WEFT_ABI_EXPORT(omp_init_nest_lock_with_hint_);

WEFT_ABI void weft_abi_omp_destroy_nest_lock(void* lock) { destroy_nest(lock, WEFT_CALLER); }
WEFT_ABI_EXPORT(omp_destroy_nest_lock);

WEFT_ABI void weft_abi_omp_set_nest_lock(void* lock) { set_nest(lock, WEFT_CALLER); }
WEFT_ABI_EXPORT(omp_set_nest_lock);

WEFT_ABI void weft_abi_omp_unset_nest_lock(void* lock) { unset_nest(lock, WEFT_CALLER); }
WEFT_ABI_EXPORT(omp_unset_nest_lock);

WEFT_ABI int weft_abi_omp_test_nest_lock(void* lock) { return test_nest(lock, WEFT_CALLER); }
WEFT_ABI_EXPORT(omp_test_nest_lock);

// A handle is the task whose event it is, in both ABIs.
WEFT_ABI void weft_abi_omp_fulfill_event(uintptr_t event) {
  const ompt::Entry entry(WEFT_CALLER);
  fulfill_event(reinterpret_cast<Task*>(event));
}
WEFT_ABI_EXPORT(omp_fulfill_event);

// Fortran passes it by value too.
WEFT_ABI void weft_abi_omp_fulfill_event_(uintptr_t event) {
  const ompt::Entry entry(WEFT_CALLER);
  fulfill_event(reinterpret_cast<Task*>(event));
}
WEFT_ABI_EXPORT(omp_fulfill_event_);

WEFT_ABI void weft_abi_omp_init_lock_(void* lock) { init(lock, 0, WEFT_CALLER); }
WEFT_ABI_EXPORT(omp_init_lock_);

WEFT_ABI void weft_abi_omp_destroy_lock_(void* lock) { destroy(lock, WEFT_CALLER); }
WEFT_ABI_EXPORT(omp_destroy_lock_);

WEFT_ABI void weft_abi_omp_set_lock_(void* at) { acquire(word_of(at), ompt_mutex_lock); }
WEFT_ABI_EXPORT(omp_set_lock_);

WEFT_ABI void weft_abi_omp_unset_lock_(void* at) { release(word_of(at), ompt_mutex_lock); }
WEFT_ABI_EXPORT(omp_unset_lock_);

WEFT_ABI int weft_abi_omp_test_lock_(void* at) { return try_acquire(word_of(at)) ? 1 : 0; }
WEFT_ABI_EXPORT(omp_test_lock_);

WEFT_ABI void weft_abi_omp_init_nest_lock_(void* lock) { init_nest(lock, 0, WEFT_CALLER); }
WEFT_ABI_EXPORT(omp_init_nest_lock_);

WEFT_ABI void weft_abi_omp_destroy_nest_lock_(void* lock) { destroy_nest(lock, WEFT_CALLER); }
WEFT_ABI_EXPORT(omp_destroy_nest_lock_);

WEFT_ABI void weft_abi_omp_set_nest_lock_(void* lock) { set_nest(lock, WEFT_CALLER); }
WEFT_ABI_EXPORT(omp_set_nest_lock_);

WEFT_ABI void weft_abi_omp_unset_nest_lock_(void* lock) { unset_nest(lock, WEFT_CALLER); }
WEFT_ABI_EXPORT(omp_unset_nest_lock_);

WEFT_ABI int weft_abi_omp_test_nest_lock_(void* lock) { return test_nest(lock, WEFT_CALLER); }
WEFT_ABI_EXPORT(omp_test_nest_lock_);
