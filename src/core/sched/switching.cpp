// SPDX-License-Identifier: Apache-2.0
#include "core/sched/switching.h"

#include <algorithm>
#include <mutex>

#include <time.h>

#include "core/context/free_contexts.h"
#include "core/context/signals.h"
#include "core/sched/carrier_binding.h"
#include "core/sched/ready.h"
#include "core/sched/wait_queue.h"
#include "platform/cycles.h"
#include "platform/futex_lock.h"
#include "platform/rseq.h"

namespace weft::core {

namespace {

// Read at every switch, written hardly ever. Acquire: with the function comes what it uses.
alignas(64) std::atomic<SwitchObserver> g_observer{nullptr};

void observe(const Context* self, bool leaving) noexcept {
  const SwitchObserver observer = g_observer.load(std::memory_order_acquire);
  if (__builtin_expect(observer != nullptr, 0)) observer(leaving, self->carrier->index);
}

// What tools have set, and whether CPU time is counted; the lock is of both together with g_observer.
platform::FutexLock g_observer_lock;
std::atomic<SwitchObserver> g_tools{nullptr};
bool g_counts_cpu_time = false;

int64_t thread_cpu_ns() noexcept { return platform::clock_ns(CLOCK_THREAD_CPUTIME_ID); }

// Of the turn that the caller is in. Another OS thread may have become this carrier since the last switch.
int64_t turn_ns(const Carrier* carrier, int64_t now) noexcept {
  return carrier->switched_ns <= now ? now - carrier->switched_ns : now;
}

// In place of the tools' observer, which comes after.
void count_cpu_time(bool leaving, int number) noexcept {
  if (leaving) {
    Context* self = current_context();
    const int64_t now = thread_cpu_ns();
    self->cpu_time_ns += turn_ns(self->carrier, now);
    self->carrier->switched_ns = now;
  }
  if (const SwitchObserver tools = g_tools.load(std::memory_order_acquire)) tools(leaving, number);
}

// A root leaves its OS thread for the first time: from now on that one may run others, and others may run the root.
[[gnu::cold, gnu::noinline]] void leave_rseq_of(Context* root) noexcept {
  root->rseq = platform::leave_rseq() ? Rseq::none : Rseq::refused;
  platform::take_rseq_area(root->carrier->rseq_area);
}

// Handlers run in the place of the target. Whether it is to be left for it all the same: the target has been awaited.
[[gnu::cold, gnu::noinline]] bool await_its_handlers(Context* self, Context* target, Departure departure) noexcept {
  if (!target->ends) {
    go_on(self);
    return false;
  }
  await_target(self, target, departure);
  return true;
}

}  // namespace

void set_switch_observer(SwitchObserver observer) noexcept {
  const std::lock_guard lock(g_observer_lock);
  g_tools.store(observer, std::memory_order_release);
  if (!g_counts_cpu_time) g_observer.store(observer, std::memory_order_release);
}

int64_t own_cpu_time() noexcept {
  Context* self = current_context();
  const bool counts = g_observer.load(std::memory_order_acquire) == count_cpu_time;
  if (!counts && self->home != self->carrier) {
    const std::lock_guard lock(g_observer_lock);
    g_counts_cpu_time = true;
    g_observer.store(count_cpu_time, std::memory_order_release);
  }
  const int64_t now = thread_cpu_ns();
  const int64_t sum = self->cpu_time_ns + turn_ns(self->carrier, now);
  // Of turns that were over before the count began nothing is known but what has been told.
  if (sum < self->told_cpu_time_ns) self->cpu_time_ns += self->told_cpu_time_ns - sum;
  self->told_cpu_time_ns = std::max(sum, self->told_cpu_time_ns);
  return self->told_cpu_time_ns;
}

void switch_counted(Context* self, Context* target, Departure departure) noexcept {
  begin_to_leave(self, departure);
  if (__builtin_expect(!occupy(target, self), 0) && !await_its_handlers(self, target, departure)) return;
  Carrier* carrier = self->carrier;
  carrier->statistics.switches.add();
  if (__builtin_expect(self->rseq == Rseq::held, 0)) leave_rseq_of(self);
  if (target->cpus != nullptr) {
    // A root that has no mask of ours would not get back the one that it has.
    const bool unreturnable = target->pinned && carrier->is_root() && carrier->own_context.cpus == nullptr;
    if (!unreturnable) bind_carrier(carrier, target->cpus);
  } else if (target->parallel_call.load(std::memory_order_relaxed) != nullptr) {
    return_to_place(carrier);
  }
  observe(self, true);
  switch_between(self, target);
  observe(self, false);
}

void departed(Context* left) noexcept {
  switch (left->departure) {
    case Departure::block: {
      uint32_t expected = Token::none;
      if (left->token.compare_exchange_strong(expected, Token::suspended)) return;
      // Notified meanwhile; nobody else knows of it now. By an exchange, as in block.cpp.
      left->token.exchange(Token::none);
      make_ready(left);
      return;
    }
    case Departure::queue: left->queue->take_in(left); return;
    case Departure::yield: make_ready(left); return;
    case Departure::idle: put_free(left->carrier, left); return;
    case Departure::none:
    case Departure::elsewhere: return;
  }
}

}  // namespace weft::core
