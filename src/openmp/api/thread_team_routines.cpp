// SPDX-License-Identifier: Apache-2.0
// The routines of thread teams (OpenMP 5.2, section 18.2): how many threads, whether the number may vary, schedules.
// Those about levels are in level_routines.cpp.
#include "base/message.h"
#include "base/options.h"
#include "openmp/api/fortran.h"
#include "openmp/library/mkl_threads.h"
#include "openmp/library/nested_blas.h"
#include "openmp/record/team.h"
#include "openmp/team/cancel.h"

using namespace weft;
using namespace weft::openmp;

namespace {

// ---- threads ----

// Inlined into what the program calls, since the answer depends on its caller.
[[gnu::always_inline]] inline void set_num_threads(int threads) noexcept {
  if (threads <= 0) {
    base::warn("omp_set_num_threads(%d): the number must be positive; the call has no effect", threads);
    return;
  }
  const Call call{__builtin_return_address(0), __builtin_frame_address(0)};
  if (is_own_answer(threads, call)) return;
  own_icvs(self()).nthreads = setting_behind_mkl(threads, call);
}

// Those of the team that the current task belongs to.
int team_threads() noexcept {
  const Member* member = current_member();
  if (member == nullptr) return 1;
  const Team* team = member->team;
  return team->agent_of != nullptr ? team->agent_of->size : team->size;
}

int is_in_parallel(const void* caller) noexcept {
  Member* member = current_member();
  return member != nullptr ? in_parallel(member, caller) : 0;
}

void set_dynamic(int on) noexcept { own_icvs(self()).dynamic = on != 0; }

// ---- schedules ----

// omp_sched_t: the kind, and bit 31 for the monotonic modifier.
constexpr unsigned kStatic = 1, kDynamic = 2, kGuided = 3, kAuto = 4;
constexpr unsigned kMonotonic = 0x80000000u;

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
  // An unset chunk means 1, but for static one block per member.
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

template <class Number, class Chunk>
void get_schedule(Number* kind, Chunk* chunk) noexcept {
  const base::LoopSchedule& schedule = icvs(self()).run_schedule;
  *kind = static_cast<Number>(schedule_kind(schedule));
  *chunk = schedule.chunk;
}

}  // namespace

WEFT_ROUTINE_SET_INT(omp_set_num_threads, set_num_threads);
WEFT_ROUTINE_GET(int, omp_get_num_threads, team_threads());
WEFT_ROUTINE_GET(int, omp_get_thread_num, current_number());
WEFT_ROUTINE_GET(int, omp_get_max_threads,
                 max_threads(self(), {__builtin_return_address(0), __builtin_frame_address(0)}));
WEFT_ROUTINE_GET(int, omp_get_thread_limit, icvs(self()).thread_limit);
WEFT_ROUTINE_GET(int, omp_in_parallel, is_in_parallel(__builtin_return_address(0)));
WEFT_ROUTINE_SET_INT(omp_set_dynamic, set_dynamic);
WEFT_ROUTINE_GET(int, omp_get_dynamic, icvs(self()).dynamic ? 1 : 0);
WEFT_ROUTINE_GET(int, omp_get_cancellation, cancellation_enabled() ? 1 : 0);

WEFT_ABI(void, omp_set_schedule)(unsigned kind, int chunk) { set_schedule(kind, chunk); }

WEFT_ABI(void, omp_set_schedule_)(const int32_t* kind, const int32_t* chunk) {
  set_schedule(static_cast<unsigned>(*kind), *chunk);
}

WEFT_ABI(void, omp_set_schedule_8_)(const int32_t* kind, const int64_t* chunk) {
  set_schedule(static_cast<unsigned>(*kind), narrow(*chunk));
}

WEFT_ABI(void, omp_get_schedule)(unsigned* kind, int* chunk) { get_schedule(kind, chunk); }

WEFT_ABI(void, omp_get_schedule_)(int32_t* kind, int32_t* chunk) { get_schedule(kind, chunk); }

WEFT_ABI(void, omp_get_schedule_8_)(int32_t* kind, int64_t* chunk) { get_schedule(kind, chunk); }
