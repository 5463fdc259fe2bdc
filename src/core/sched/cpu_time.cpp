// SPDX-License-Identifier: Apache-2.0
#include "core/sched/cpu_time.h"

#include <atomic>

#include <time.h>

#include "core/sched/pool.h"
#include "core/sched/switch_observer.h"
#include "platform/cycles.h"

namespace weft::core {

namespace {

int64_t thread_cpu_ns() noexcept { return platform::clock_ns(CLOCK_THREAD_CPUTIME_ID); }

// For handlers of signals on the same thread.
void set_state(CpuTime& time, CpuTime::State state) noexcept {
  std::atomic_signal_fence(std::memory_order_release);
  time.state = state;
}

// What others have used of the OS thread that the identity belongs to. Relaxed: of a turn that is being counted there
// nothing is known yet.
int64_t used_by_others(const Context* self) noexcept {
  if (self->donated) return 0;
  if (self->home != nullptr) return self->home->counted_ns.load(std::memory_order_relaxed);
  const Pool& p = pool();
  const int count = p.worker_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Carrier* worker = p.worker(i);
    if (&worker->own_context == self) return worker->counted_ns.load(std::memory_order_relaxed);
  }
  return 0;
}

// At the first question: the earlier turns on other OS threads are not known.
void begin_to_count(Context* self) noexcept {
  CpuTime& time = self->cpu_time;
  const int64_t others = used_by_others(self);
  if (self->thread_id == self->carrier->thread_id.load(std::memory_order_relaxed)) {
    time.before = 0;
    time.offset = -others;
  } else {
    time.before = platform::cpu_time_of_thread_ns(self->thread_id) - others;
    time.offset = time.before - thread_cpu_ns();
  }
  set_state(time, CpuTime::here);
  count_cpu_time_at_switches();
}

}  // namespace

void count_turn_before_leave(Context* self) noexcept {
  CpuTime& time = self->cpu_time;
  Carrier* carrier = self->carrier;
  if (time.state != CpuTime::here) {
    carrier->left_at_cpu_ns = -1;
    return;
  }
  // A handler that asks between here and the change of the state is told a little more than the context is next.
  const int64_t now = thread_cpu_ns();
  const int64_t turn = now + time.offset - time.before;
  time.before += turn;
  set_state(time, CpuTime::away);
  carrier->left_at_cpu_ns = now;
  // Relaxed, and no addition of the machine's: this OS thread alone writes it.
  carrier->counted_ns.store(carrier->counted_ns.load(std::memory_order_relaxed) + turn, std::memory_order_relaxed);
}

void begin_counted_turn(Context* self) noexcept {
  CpuTime& time = self->cpu_time;
  if (time.state != CpuTime::away) return;
  // The one that has just left has read the clock, if it counts too.
  const int64_t left_at = self->carrier->left_at_cpu_ns;
  time.offset = time.before - (left_at >= 0 ? left_at : thread_cpu_ns());
  set_state(time, CpuTime::here);
}

int64_t own_cpu_time() noexcept {
  Context* self = current_context();
  if (self->cpu_time.state == CpuTime::unasked) {
    // A handler that asks first of all while its context is about to leave: this switch does not count for it.
    if (std::atomic_ref(self->departure).load(std::memory_order_relaxed) != Departure::none) return 0;
    begin_to_count(self);
  }
  const CpuTime& time = self->cpu_time;
  return time.state == CpuTime::away ? time.before : thread_cpu_ns() + time.offset;
}

}  // namespace weft::core
