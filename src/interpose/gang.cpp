// SPDX-License-Identifier: Apache-2.0
#include "interpose/gang.h"

#include <atomic>
#include <new>

#include <sched.h>

#include "core/api/fork.h"
#include "core/api/wait.h"
#include "interpose/gang_queue.h"
#include "interpose/statistics.h"
#include "interpose/thread_share.h"
#include "openmp/ompt/library.h"
#include "platform/cycles.h"
#include "platform/spinlock.h"

namespace weft::interpose {

namespace {

platform::Spinlock g_gangs_lock;
Gang* g_free = nullptr;

// How many carriers run jobs, beside the callers. Relaxed: a guess.
std::atomic<int> g_helpers{0};

void run_of_list(const Gang* gang, int index) noexcept {
  QueuedJob* queued = gang->list;
  for (int i = 0; i < index; ++i) queued = queued->next;
  gang->job(gang->numbers[static_cast<size_t>(index)], queued, gang->extra);
}

void help(core::ParallelCall* parallel_call, int index) {
  auto* gang = static_cast<Gang*>(parallel_call);
  const openmp::ompt::InLibrary in_library(&gang->tool);
  if (!gang->by_turns) core::begin_gang_calls(1);
  g_helpers.fetch_add(1, std::memory_order_relaxed);
  if (gang->by_turns) {
    gang->sequence.take_part();
  } else if (gang->in_sequence) {
    gang->sequence.help_if_stuck();
  } else if (gang->list != nullptr) {
    run_of_list(gang, index - 1);
  } else {
    run_of_array(gang, index);
  }
  g_helpers.fetch_sub(1, std::memory_order_relaxed);
}

// Carriers that are about to end something else have this time to come, before OS threads are lent in their place.
constexpr int64_t kTimeToComeNs = 50'000;
// Other gangs have this time to end: many calls are that short; but one that is long must not hold up all others.
constexpr int64_t kTimeToEndNs = 2'000'000;

// Waits a moment for carriers. The gang's calls have been announced, and `missing` of them lack a carrier. Returns how
// many still do.
int await_idle(int missing, int calls) noexcept {
  const int64_t deadline = platform::now_ns() + kTimeToComeNs;
  while (missing > 0 && platform::now_ns() < deadline) {
    for (int i = 0; i < 32; ++i) platform::pause();
    core::begin_gang_calls(calls);
    missing = core::announce_gang(calls);
  }
  return missing;
}

// Waits a moment for carriers where they are useful but not necessary. Returns how many are idle.
int await_some(int wanted) noexcept {
  int idle = core::idle_carriers();
  if (idle >= wanted || others_have_turns()) return idle;
  const int64_t deadline = platform::now_ns() + kTimeToComeNs;
  while (idle < wanted && platform::now_ns() < deadline) {
    for (int i = 0; i < 32; ++i) platform::pause();
    idle = core::idle_carriers();
  }
  return idle;
}

// Waits until other gangs end. `seen`: turns_ended() before the carriers were counted, so that the end of a gang since
// then is not missed. Returns how many calls still lack a carrier.
int await_turns(const core::Context* context, int missing, int calls, uint32_t seen) noexcept {
  const int64_t deadline = platform::now_ns() + kTimeToEndNs;
  bool has_slept = false;
  while (missing > 0 && others_have_turns()) {
    const int64_t left = deadline - platform::now_ns();
    if (left <= 0) break;
    core::begin_gang_calls(
        calls);  // withdraws the announcement: while this gang sleeps, it keeps no carriers from others
    core::begin_sleep(context);
    await_turn(seen, left);
    core::end_sleep(context);
    has_slept = true;
    seen = turns_ended();
    missing = core::announce_gang(calls);
  }
  if (has_slept) pass_turn_on();
  return missing;
}

// Yields to the lent OS threads until the gang's jobs have ended, for a while: there are more threads than CPUs, and
// those that have jobs need the CPU on which the caller would spin.
void let_lent_run(const Gang* gang) noexcept {
  const int64_t deadline = platform::now_ns() + core::spin_ns();
  // Relaxed: join() sees what the jobs have done.
  while (gang->pending.load(std::memory_order_relaxed) > 0 && !gang->claimable()) {
    sched_yield();
    if (platform::now_ns() > deadline) return;
  }
}

}  // namespace

Gang* take_gang() noexcept {
  g_gangs_lock.lock();
  Gang* gang = g_free;
  if (gang != nullptr) g_free = gang->next_free;
  g_gangs_lock.unlock();
  return gang != nullptr ? gang : new (std::nothrow) Gang;
}

void put_gang(Gang* gang) noexcept {
  g_gangs_lock.lock();
  gang->next_free = g_free;
  g_free = gang;
  g_gangs_lock.unlock();
}

void run_of_array(const Gang* gang, int index) noexcept {
  const auto i = static_cast<size_t>(index);
  gang->job(gang->numbers[i], gang->data + i * gang->size, gang->extra);
}

bool begin_sequence(Gang* gang) noexcept {
  core::attach();
  const auto run_one = [](void* call, int index) {
    const auto* of = static_cast<const Gang*>(call);
    of->list != nullptr ? run_of_list(of, index) : run_of_array(of, index);
  };
  const auto waits = gang->by_turns ? Sequence::Waits::seen : Sequence::Waits::unseen;
  return gang->sequence.begin(gang->count, run_one, gang, waits);
}

void offer(Gang* gang) noexcept {
  // The caller runs one job of an array itself; while a list runs, the caller does something else.
  const int most = gang->list != nullptr ? gang->count : gang->count - 1;
  const int carriers = std::min(most, carriers_of_a_call(gang->copy) - 1);
  // If the carrier is in no table, no other carrier would find the jobs.
  gang->offered = carriers > 0 && core::carrier_number() >= 0;
  if (!gang->offered) return;
  core::Context* context = core::attach();
  if (context->home != nullptr) core::enter_region(context, carriers + 1);
  core::count_gang();
  gang->call = help;
  const int idle = std::min(carriers, await_some(carriers));
  if (idle < carriers) lower_share(g_helpers.load(std::memory_order_relaxed));
  if (idle > 0) gang->sequence.expect_help();
  begin_turn();
  core::publish(gang, carriers + 1);
  core::summon(gang, idle);
}

void await_carriers(Gang* gang) noexcept {
  if (!gang->offered) return;
  core::join(gang);
  end_turn();
  core::Context* context = core::attach();
  if (context->home != nullptr) core::leave_region(context);
}

bool start(Gang* gang, int calls) noexcept {
  core::Context* context = core::attach();
  if (context->home != nullptr) core::enter_region(context, calls + 1);
  gang->lent = 0;
  const uint32_t ended = turns_ended();
  int missing = core::announce_gang(calls);
  if (missing > 0) {
    if (!others_have_turns()) missing = await_idle(missing, calls);
    if (missing > 0) lower_share(g_helpers.load(std::memory_order_relaxed));
    if (missing > 0) missing = await_turns(context, missing, calls, ended);
    gang->lent = core::lend_threads(missing);
  }
  if (gang->lent < missing) {
    core::begin_gang_calls(calls);
    core::return_threads(gang->lent);
    if (context->home != nullptr) core::leave_region(context);
    return false;
  }
  begin_turn();
  count_gang(gang->count, gang->lent);
  gang->in_sequence = gang->in_sequence && begin_sequence(gang);
  gang->call = help;
  core::publish(gang, calls + 1);
  core::summon(gang, calls);
  return true;
}

void finish(Gang* gang) noexcept {
  if (gang->lent > 0) let_lent_run(gang);
  core::join(gang);
  end_turn();
  core::return_threads(gang->lent);
  core::Context* context = core::attach();
  if (context->home != nullptr) core::leave_region(context);
}

void lock_gangs() noexcept { g_gangs_lock.lock(); }
void unlock_gangs(bool in_child) noexcept {
  if (in_child) g_helpers.store(0, std::memory_order_relaxed);
  g_gangs_lock.unlock();
}

}  // namespace weft::interpose
