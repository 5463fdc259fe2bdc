// SPDX-License-Identifier: Apache-2.0
// What OpenBLAS (builds with OpenMP, 0.3.x) does with the answers. caller.cpp knows its name.
#include "openmp/library/nested_blas.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <utility>

#include "base/options.h"
#include "core/api/fork.h"
#include "core/api/wait.h"
#include "openmp/library/call_policy.h"
#include "openmp/library/call_right.h"
#include "openmp/library/call_turns.h"
#include "openmp/library/caller.h"
#include "openmp/library/library_number.h"
#include "openmp/library/mkl_threads.h"
#include "openmp/loop/worksharing.h"
#include "openmp/record/team.h"
#include "openmp/record/thread_limit.h"
#include "openmp/settings/icv.h"
#include "openmp/settings/startup.h"
#include "platform/cycles.h"

namespace weft::openmp {

namespace {

// The most that anybody has been answered: each region of a library has that many members, whatever became of the
// library's global in between. Members for which it has no work return at once.
std::atomic<int> g_most_threads_answered{1};

// What the user has asked of the library (openblas_set_num_threads).
std::atomic<int> g_limit{INT_MAX};

// When each carrier was asked last, and how long it took from one question to the next: the only measure of how
// long a call of the library takes. Relaxed: estimates. All carriers share one, which is written when it is far off:
// many may ask at once.
struct alignas(64) Asked {
  std::atomic<int64_t> last{0};
};
std::array<Asked, core::kMaxCarriers> g_asked;
std::atomic<int64_t> g_call_ns{0};

int64_t note_question(int64_t now) noexcept {
  auto& last = g_asked[static_cast<size_t>(core::carrier_number())].last;
  const int64_t before = last.load(std::memory_order_relaxed);
  last.store(now, std::memory_order_relaxed);
  const int64_t shared = g_call_ns.load(std::memory_order_relaxed);
  const int64_t call = now - before;
  constexpr int64_t kLongest = 10'000'000'000;
  if (before == 0 || call >= kLongest || std::abs(call - shared) <= shared / 8) return shared;
  g_call_ns.store(call, std::memory_order_relaxed);
  return call;
}

// A call that is shorter is over before others have come to help.
constexpr int64_t kShortCallNs = 200'000;

// The last iteration of an outer loop starts when the first member has nothing else to do, and the others
// finish theirs within it: a call that starts alone now would leave their CPUs idle until its end. With k of them
// idle the call takes 1 / (k + 1) of its time; so it is worth waiting for one more as long as that comes
// within a part of what it saves. Half of that part, since the durations are guesses.
int wait_for_tail(Member* self, int idle, int wanted, int64_t call) noexcept {
  int64_t now = platform::now_ns();
  if (self->team->level == 0 || !loop_exhausted(self)) return idle;
  const core::Context* context = core::current_context();
  int64_t since = now;
  while (idle + 1 < wanted && !core::wanted_elsewhere(context)) {
    now = platform::now_ns();
    if (now - since > call / (2 * (idle + 1) * (idle + 2))) break;
    for (int i = 0; i < 32; ++i) platform::pause();
    const int seen = core::idle_carriers();
    if (seen > idle) since = now;
    idle = seen;
  }
  return idle;
}

// More members than this a region of the caller's should not have.
int most_useful(Member* self) noexcept {
  if (self->team->active_level >= icvs(self).max_active_levels) return 1;
  return std::min({icvs(self).nthreads, g_limit.load(std::memory_order_relaxed), num_procs()});
}

// Reserves threads for the region that a thread is answered `threads` for. Its members are as many as any thread has
// been answered. All of them are reserved, since they wait for each other. False: the limit leaves fewer.
bool reserve(Member* self, int threads) noexcept {
  if (!has_limit(self)) return true;
  if (threads <= 1) return false;
  const int size = std::max(threads, g_most_threads_answered.load(std::memory_order_relaxed));
  return take_all_threads(self, size, icvs(self).structured_limit, reserved_threads());
}

// Outside of any parallel region, and with no other root about, all CPUs are the caller's, also those whose members
// have just finished its last region.
bool has_all_cpus(Member* self) noexcept {
  if (self->team->active_level != 0) return false;
  start_runtime();
  core::attach();
  return core::alone();
}

// How many members, of those wanted, a region could really run at once now.
int possible(Member* self, int wanted, Way way) noexcept {
  int idle = wanted;
  const bool all = has_all_cpus(self);
  if (core::carrier_number() < 0) return 1;  // nobody would come to help
  if (!all) {
    const int64_t call = note_question(platform::now_ns());
    if (call < kShortCallNs) return 1;
    idle = core::idle_carriers();
    if (way == Way::tail) idle = wait_for_tail(self, idle, wanted, call);
  }
  const int regions = base::options().nested_regions;
  // With several regions at once the library's global must not change under a caller: all get the same answer.
  if (regions > 1) {
    const int fixed = std::max(2, num_procs() / regions);
    return fixed <= std::min(wanted, 1 + idle) ? fixed : 1;
  }
  return std::min(wanted, 1 + idle);
}

// Whether there are threads for a region that must not have fewer members than its caller has been answered.
bool can_have(int threads) noexcept {
  start_runtime();
  core::attach();
  core::want_workers(threads);
  return core::has_spare() && !core::threads_refused();
}

// What an answer would do to the library at `caller`. With several regions at once two that change its number are as
// bad as a smaller one.
Change change_of(int threads, const void* caller) noexcept {
  const int before = library_number(caller);
  if (threads == before) return Change::none;
  return before == 0 || threads < before || base::options().nested_regions > 1 ? Change::smaller : Change::larger;
}

// Begins the caller's turn. With `fixed` numbers, which follow no load but the program's settings, it waits until the
// library's may be changed.
bool begin_turn_with(int threads, const void* caller, bool fixed, int64_t give_up_ns) noexcept {
  if (!begin_turn(give_up_ns)) return false;
  while (fixed && change_of(threads, caller) == Change::smaller && !may_change_number()) {
    // Regions that begin wait for who has a right.
    end_gang();
    core::yield();
    if (!begin_turn(give_up_ns)) return false;
  }
  return true;
}

// What the code at `caller` is answered; if more than 1, it has the right.
int answer(Member* self, const void* caller) noexcept {
  if (library_is_stuck()) return 1;
  const int wanted = most_useful(self);
  if (wanted <= 1) return 1;
  const int most_allowed = has_limit(self) ? threads_left(self, icvs(self).structured_limit) : INT_MAX;
  if (most_allowed <= 1) return 1;
  // Rounding depends on the number: so it is the program's, and where libraries go serial, 1.
  const bool fixed = base::options().reproducible == base::TriState::yes;
  if (fixed && self->team->active_level > 0) return 1;
  const bool one_region = base::options().nested_regions == 1;
  const Way way = fixed ? Way::turns : one_region ? way_of_calls(self->team) : Way::side_by_side;
  if (way == Way::turns) {
    if (fixed) {
      start_runtime();
      core::attach();
      if (core::carrier_number() < 0) return 1;  // its regions have one member
    }
    const int threads = std::min(wanted, most_allowed);
    if (!can_have(threads)) return 1;
    const int64_t give_up_ns = fixed ? INT64_MAX : self->team->policy.give_up_ns;
    return begin_turn_with(threads, caller, fixed, give_up_ns) && reserve(self, threads) ? threads : 1;
  }
  int threads = possible(self, wanted, way);
  // Where all get the same answer, it is that or nothing.
  if (threads > most_allowed) threads = one_region ? most_allowed : 1;
  return threads > 1 && can_have(threads) && (keep_right() || take_right()) && reserve(self, threads) ? threads : 1;
}

void promise(int threads, const void* caller, Change change) noexcept {
  if (change != Change::none) note_library_number(caller, threads);
  promise_right(change);
}

}  // namespace

int max_threads(Member* self, const Call& call) noexcept {
  const void* caller = call.caller;
  const Library library = library_of(caller);
  if (library == Library::mkl) return threads_for_mkl(self, call);
  if (library != Library::openblas) return icvs(self).nthreads;
  // Outside of all regions a right that is still the caller's serves again; elsewhere others may want it meanwhile.
  if (self->team->active_level != 0 || has_limit(self)) end_gang();
  t_threads_answered = 0;
  const int threads = answer(self, caller);
  const Change change = threads > 1 ? change_of(threads, caller) : Change::none;
  if (threads <= 1 || (change == Change::smaller && !may_change_number())) {
    end_gang();
    return 1;
  }
  promise(threads, caller, change);
  t_threads_answered = threads;
  int most = g_most_threads_answered.load(std::memory_order_relaxed);
  while (most < threads && !g_most_threads_answered.compare_exchange_weak(most, threads, std::memory_order_relaxed)) {
  }
  return threads;
}

ThreadGrant take_over_grant(const Member* self, int size) noexcept {
  ThreadGrant grant = take_reserved_threads();
  if (grant.threads == size - 1) return grant;
  give_back(&grant);
  return add_threads(self, size);
}

void drop_answer() noexcept {
  if (!has_promised()) return;
  t_threads_answered = 0;
  end_gang();
}

int in_parallel(Member* self, const void* caller) noexcept {
  if (t_threads_answered > 1 && library_of(caller) == Library::openblas) return 0;
  return self->team->active_level > 0 ? 1 : 0;
}

bool is_own_answer(int threads, const Call& call) noexcept {
  if (library_of(call.caller) != Library::openblas) return false;
  if (threads == t_threads_answered) return true;
  g_limit.store(threads, std::memory_order_relaxed);
  note_library_number(call.caller, threads);
  return false;
}

int gang_size(const void* caller) noexcept {
  if (library_of(caller) != Library::openblas) return 0;
  const int own = own_count(caller);
  if (t_threads_answered <= 1 && own <= 1) return 0;
  use_right();
  return std::max({t_threads_answered, own, g_most_threads_answered.load(std::memory_order_relaxed)});
}

Missing begin_gang(core::ParallelCall* region, int size) noexcept {
  if (!has_turn()) return {size - 1, core::idle_carriers()};
  const int idle = gather_members(region);
  return {region->unclaimed(), idle};
}

RegionAnswer hand_over_answer() noexcept {
  return {std::exchange(t_threads_answered, 0), hand_over_right(), hand_over_turn()};
}

void take_back_answer(const RegionAnswer& answer) noexcept {
  t_threads_answered = answer.threads;
  take_back_right(answer.right);
  take_back_turn(answer.turn);
}

void end_gang() noexcept {
  if (has_turn()) {
    end_turn();
  } else {
    give_back_right();
  }
}

}  // namespace weft::openmp
