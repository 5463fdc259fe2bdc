// SPDX-License-Identifier: Apache-2.0
// What OpenBLAS (builds with OpenMP, 0.3.x) does with the answers. caller.cpp knows its name.
#include "openmp/libraries.h"

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#include "base/options.h"
#include "core/bundle.h"
#include "core/gang.h"
#include "core/parking.h"
#include "core/scheduler.h"
#include "openmp/caller.h"
#include "openmp/nesting.h"
#include "openmp/startup.h"
#include "openmp/team.h"
#include "openmp/thread_limit.h"
#include "platform/cycles.h"
#include "platform/fence.h"

namespace weft::openmp {

namespace {

// The right to tell a library more than 1. The library keeps the number in one global, and has one set of
// buffers for which a second region would spin; so there is one right (as many as WEFT_NESTED_REGIONS). It goes
// back at the end of the region, or, when the library opens none after all, by age.
constexpr int64_t kStaleNs = 2'000'000;
constexpr int kMaxRights = 64;
struct Right {
  // When it was taken; 0: free; kInRegion: its region runs. Acquire and release: the next holder comes after.
  std::atomic<int64_t> taken{0};
  // What its holder may use of a limit of threads, from the answer until the region begins. Who takes the right from a
  // holder that opened none takes that too, so it is with the right, and changes hands as that does.
  ThreadGrant reserved;
};
constexpr int64_t kInRegion = INT64_MAX;
std::array<Right, kMaxRights> g_rights;
thread_local Right* t_right = nullptr;
thread_local int64_t t_taken = 0;
thread_local bool t_turn = false;  // whether it was waited for

// The most anybody has been told: each region of a library has that many members, whatever became of the
// library's global in between. Members for which it has no work return at once.
std::atomic<int> g_most_told{1};

// What the user has asked of the library (openblas_set_num_threads).
std::atomic<int> g_limit{INT_MAX};

// Makes the right the caller's alone again, if nobody has taken it for stale.
bool keep_right() noexcept {
  if (t_right == nullptr) return false;
  int64_t expected = t_taken;
  if (t_right->taken.compare_exchange_strong(expected, kInRegion, std::memory_order_acq_rel)) {
    t_taken = kInRegion;
    return true;
  }
  t_right = nullptr;
  return false;
}

void give_back_right() noexcept {
  if (!keep_right()) return;
  give_back(&t_right->reserved);
  t_right->taken.store(0, std::memory_order_release);
  t_right = nullptr;
}

bool take_right() noexcept {
  const int rights = std::min(base::options().nested_regions, kMaxRights);
  const int64_t now = platform::now_ns();
  for (int i = 0; i < rights; ++i) {
    Right& right = g_rights[static_cast<size_t>(i)];
    int64_t taken = right.taken.load(std::memory_order_relaxed);
    if (taken == kInRegion || (taken != 0 && now - taken < kStaleNs)) continue;
    if (!right.taken.compare_exchange_strong(taken, kInRegion, std::memory_order_acq_rel)) continue;
    give_back(&right.reserved);
    t_right = &right;
    t_taken = kInRegion;
    return true;
  }
  return false;
}

bool right_is_free() noexcept {
  const int64_t taken = g_rights[0].taken.load(std::memory_order_relaxed);
  return taken == 0 || (taken != kInRegion && platform::now_ns() - taken >= kStaleNs);
}

// Where calls take turns: the region whose turn it is. Members that wait for theirs are its members meanwhile, so that
// it has them at once. Release by the one whose turn it is, acquire by those that join.
std::atomic<core::Bundle*> g_turn{nullptr};

// Members that poll for it, at most one for each CPU but the holder's; relaxed: a hint. The others sleep on the count
// of turns that have ended; between `g_asleep` and that count stands a fence on both sides, so that none is forgotten.
std::atomic<int> g_polling{0};
std::atomic<uint32_t> g_turns_ended{0};
std::atomic<int> g_asleep{0};

// False when `give_up_ns` has passed: a trial of turns that goes badly.
bool await_right(int64_t give_up_ns) noexcept {
  const core::Context* context = core::current_context();
  const auto called = [context] {
    const core::Bundle* turn = g_turn.load(std::memory_order_acquire);
    return turn != nullptr && turn->claimable() && turn->root.load(std::memory_order_relaxed) == context->group;
  };
  while (!take_right()) {
    if (platform::now_ns() > give_up_ns) return false;
    const bool polls = g_polling.fetch_add(1, std::memory_order_relaxed) < core::slots() - 1;
    if (!polls) {
      g_polling.fetch_sub(1, std::memory_order_relaxed);
      const uint32_t ended = g_turns_ended.load();
      g_asleep.fetch_add(1);
      platform::full_fence_after_update();
      if (!right_is_free()) core::park(g_turns_ended, ended);
      g_asleep.fetch_sub(1);
      continue;
    }
    if (called()) {
      core::take_part(g_turn.load(std::memory_order_acquire));
    } else if (!core::spin_until(context, [&] { return called() || right_is_free(); })) {
      core::yield();
    }
    g_polling.fetch_sub(1, std::memory_order_relaxed);
  }
  return true;
}

void end_turn() noexcept {
  t_turn = false;
  g_turn.store(nullptr, std::memory_order_relaxed);
  give_back_right();
  g_turns_ended.fetch_add(1);
  platform::full_fence_after_update();
  if (g_asleep.load(std::memory_order_relaxed) > 0) core::unpark(g_turns_ended, 1);
}

// When each carrier was asked last, and how long it took from one question to the next: the only measure of how
// long a call of the library takes. Relaxed: estimates.
std::array<std::atomic<int64_t>, core::kMaxCarriers> g_asked;
std::atomic<int64_t> g_call_ns{0};

int64_t note_question(int64_t now) noexcept {
  auto& asked = g_asked[static_cast<size_t>(core::carrier_number())];
  const int64_t before = asked.exchange(now, std::memory_order_relaxed);
  constexpr int64_t kLongest = 10'000'000'000;
  if (before != 0 && now - before < kLongest) g_call_ns.store(now - before, std::memory_order_relaxed);
  return g_call_ns.load(std::memory_order_relaxed);
}

// Those that wait for a turn have this long to join the region whose turn it is.
constexpr int64_t kTimeToJoinNs = 200'000;
// And those that have not asked yet, or have just left the loop, have this long to ask or to be seen as idle: an OS
// thread lent in their place would take their CPU from them.
constexpr int64_t kTimeToFinishNs = 100'000;

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

// For the region that a thread is told `told` for, whose members are as many as anybody has been told: all of them,
// since they wait for each other. False: the limit leaves fewer.
bool reserve(Member* self, int told) noexcept {
  if (!has_limit(self)) return true;
  if (told <= 1) return false;
  const int size = std::max(told, g_most_told.load(std::memory_order_relaxed));
  return take_all_threads(self, size, icvs(self).thread_limit, &t_right->reserved);
}

// From now on the caller, which has the right, must open its region or lose it.
void start_ageing() noexcept {
  t_taken = platform::now_ns();
  t_right->taken.store(t_taken, std::memory_order_release);
}

// How many members, of those wanted, a region could really run at once now.
int possible(Member* self, int wanted, Way way) noexcept {
  start_runtime();
  core::attach();
  // Outside of any parallel region, and with no other root about, all CPUs are the caller's, also those whose members
  // have just finished its last region.
  const bool alone = self->team->active_level == 0 && core::alone();
  int idle = wanted;
  if (!alone) {
    const int64_t call = note_question(platform::now_ns());
    if (call < kShortCallNs) return 1;
    idle = core::idle_carriers();
    if (way == Way::tail) idle = wait_for_tail(self, idle, wanted, call);
  }
  const int regions = base::options().nested_regions;
  // With several regions at once the library's global must not change under a caller: all are told the same.
  if (regions > 1) {
    const int fixed = std::max(2, num_procs() / regions);
    return fixed <= std::min(wanted, 1 + idle) ? fixed : 1;
  }
  return std::min(wanted, 1 + idle);
}

}  // namespace

int max_threads(Member* self, const void* caller) noexcept {
  if (!is_special(caller)) return icvs(self).nthreads;
  end_gang();
  t_told = 0;
  const int wanted = most_useful(self);
  if (wanted <= 1) return 1;
  const int most_allowed = has_limit(self) ? threads_left(self, icvs(self).thread_limit) : INT_MAX;
  if (most_allowed <= 1) return 1;
  int told = std::min(wanted, most_allowed);
  const Way way = base::options().nested_regions == 1 ? way_of_calls(self->team) : Way::side_by_side;
  if (way == Way::turns) {
    if (!await_right(self->team->give_up_ns)) return 1;
    t_turn = true;
  } else {
    told = possible(self, wanted, way);
    // Where all are told the same, it is that or nothing.
    if (told > most_allowed) told = base::options().nested_regions > 1 ? 1 : most_allowed;
    if (told <= 1 || !take_right()) return 1;
  }
  if (!reserve(self, told)) {
    end_gang();
    return 1;
  }
  start_ageing();
  t_told = told;
  int most = g_most_told.load(std::memory_order_relaxed);
  while (most < told && !g_most_told.compare_exchange_weak(most, told, std::memory_order_relaxed)) {
  }
  return told;
}

ThreadGrant take_over_grant(const Member* self, int size) noexcept {
  ThreadGrant grant = t_right != nullptr ? std::exchange(t_right->reserved, {}) : ThreadGrant();
  if (grant.threads == size - 1) return grant;
  give_back(&grant);
  return add_threads(self, size);
}

void drop_answer() noexcept {
  if (t_right == nullptr || t_taken == kInRegion) return;
  t_told = 0;
  end_gang();
}

int in_parallel(Member* self, const void* caller) noexcept {
  if (t_told > 1 && is_special(caller)) return 0;
  return self->team->active_level > 0 ? 1 : 0;
}

bool is_own_answer(int threads, const void* caller) noexcept {
  if (!is_special(caller)) return false;
  if (threads == t_told) return true;
  g_limit.store(threads, std::memory_order_relaxed);
  return false;
}

int gang_size(const void* caller) noexcept {
  if (!is_special(caller)) return 0;
  static_cast<void>(keep_right());
  return std::max(t_told, g_most_told.load(std::memory_order_relaxed));
}

Missing begin_gang(core::Bundle* region, int size) noexcept {
  if (!t_turn) return {size - 1, core::idle_carriers()};
  g_turn.store(region, std::memory_order_release);
  const int64_t start = platform::now_ns();
  for (int64_t now = start; region->claimable(); now = platform::now_ns()) {
    const bool some_poll = g_polling.load(std::memory_order_relaxed) > 0;
    const int idle = some_poll ? 0 : core::idle_carriers();
    if (idle >= region->unclaimed()) return {region->unclaimed(), idle};
    if (now - start > (some_poll ? kTimeToJoinNs : kTimeToFinishNs)) break;
    platform::pause();
  }
  return {region->unclaimed(), 0};
}

void end_gang() noexcept {
  if (t_turn) {
    end_turn();
  } else {
    give_back_right();
  }
}

}  // namespace weft::openmp
