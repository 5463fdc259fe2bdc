// SPDX-License-Identifier: Apache-2.0
#include "core/sched/surplus.h"

#include <mutex>

#include <unistd.h>

#include "core/sched/pool.h"
#include "core/sched/waking.h"
#include "core/sched/watcher.h"
#include "platform/cycles.h"

namespace weft::core {

namespace {

// Whether unused contexts stay: where memory is locked they have been made ahead (core/sched/persistent_team.cpp).
bool are_kept(const Pool& pool) noexcept { return pool.memory_is_locked.load(std::memory_order_relaxed); }

}  // namespace

void Surplus::tick(Pool& pool) noexcept {
  const int64_t now = platform::now_ns();
  const bool is_time = now - last_look_ >= kPeriodNs;
  if (!is_time && !has_absent_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(lock_);
  if (stopped_) return;
  reap(pool);
  if (!is_time) return;
  last_look_ = now;
  if (!are_kept(pool)) take_out(pool);
}

void Surplus::stop(Pool& pool) noexcept {
  {
    const std::lock_guard lock(lock_);
    stopped_ = true;
  }
  await_ends(pool);
}

void Surplus::await_ends(Pool& pool) noexcept {
  constexpr int64_t kMostNs = 100'000'000;
  constexpr useconds_t kPauseUs = 500;
  for (const int64_t end = platform::now_ns() + kMostNs; platform::now_ns() < end; usleep(kPauseUs)) {
    const std::lock_guard lock(lock_);
    reap(pool);
    if (ending_.empty() && absent_.empty()) return;
  }
}

void Surplus::end(Pool& pool, ContextQueue& unused) noexcept {
  const std::lock_guard lock(lock_);
  if (!stopped_) begin_to_end(pool, unused);
}

void Surplus::end_later(Context* chain) noexcept {
  if (chain == nullptr) return;
  {
    const std::lock_guard lock(lock_);
    while (Context* context = chain) {
      chain = context->next;
      absent_.add(context);
    }
    note_absent();
  }
  wake_monitor();
}

bool Surplus::any(const Pool& pool) noexcept {
  const std::lock_guard lock(lock_);
  if (stopped_) return false;
  if (!ending_.empty() || !absent_.empty()) return true;
  if (are_kept(pool)) return false;
  const int count = pool.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    if (pool.carrier(i)->free.donors.load(std::memory_order_relaxed) > 0) return true;
  }
  return false;
}

void Surplus::take_out(Pool& pool) noexcept {
  // A worker's own identity stays as long as the worker.
  const auto donated = [](const Context* context) { return context->donated; };
  ContextQueue unused;
  const int count = pool.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    FreeContexts& free = pool.carrier(i)->free;
    const std::lock_guard lock(free.lock);
    for (int more = (free.unused + 1) / 2; more > 0; --more) {
      Context* context = free.take_from_shelf(donated);
      if (context == nullptr) break;
      unused.add(context);
    }
    free.unused = free.shelf.size();
  }
  begin_to_end(pool, unused);
}

void Surplus::begin_to_end(Pool& pool, ContextQueue& unused) noexcept {
  {
    const std::lock_guard lock(pool.lock);
    unused.visit([&pool](const Context* context) { pool.contexts.withdraw(context); });
  }
  while (Context* context = unused.take()) {
    ContextPool::begin_end(context);
    (lacks_thread(context) ? absent_ : ending_).add(context);
  }
  note_absent();
}

void Surplus::note_absent() noexcept { has_absent_.store(!absent_.empty(), std::memory_order_relaxed); }

// Takes back the contexts whose identities have ended. It waits for none of the others: the destructors of their
// thread-local objects may take long.
void Surplus::reap_ended(Pool& pool) noexcept {
  while (Context* context = ending_.take([](Context* ending) { return ContextPool::has_ended(ending); })) {
    const std::lock_guard lock(pool.lock);
    context->next = nullptr;
    pool.contexts.reuse(context);
  }
}

// Absent donors get a thread each to end with, some at a time: the program may be near the limit of its threads. Those
// whose destructors wait for each other all come.
void Surplus::reap(Pool& pool) noexcept {
  constexpr int kAtOnce = 16;
  constexpr int64_t kMostNs = 3'000'000;
  constexpr useconds_t kPauseUs = 50;
  reap_ended(pool);
  bool refused = false;
  for (const int64_t end = platform::now_ns() + kMostNs; !absent_.empty() && !refused && platform::now_ns() < end;) {
    for (int i = 0; i < kAtOnce && !absent_.empty() && !refused; ++i) {
      Context* context = absent_.take_first(ContextPool::has_thread_to_end);
      refused = context == nullptr;
      if (!refused) ending_.add(context);
    }
    usleep(kPauseUs);
    reap_ended(pool);
  }
  note_absent();
}

}  // namespace weft::core
