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

// The fence is for handlers of signals on the same thread: with the state they see the other fields.
void set_state(CpuTime& time, CpuTime::State state) noexcept {
  std::atomic_signal_fence(std::memory_order_release);
  time.state = state;
}

// The CPU time that other contexts have used on the OS thread that the identity belongs to. Relaxed: it lacks the turn
// that is going on there anyway.
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

// Called when the context asks for its time for the first time. Its earlier turns on other OS threads are not known.
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
  // A handler that asks between here and the change of the state gets a little more than the context gets next.
  const int64_t now = thread_cpu_ns();
  const int64_t turn = now + time.offset - time.before;
  time.before += turn;
  set_state(time, CpuTime::away);
  carrier->left_at_cpu_ns = now;
  // Relaxed, and no atomic addition: only this OS thread writes it.
  carrier->counted_ns.store(carrier->counted_ns.load(std::memory_order_relaxed) + turn, std::memory_order_relaxed);
}

void begin_counted_turn(Context* self) noexcept {
  CpuTime& time = self->cpu_time;
  if (time.state != CpuTime::away) return;
  // If the context that has just left counts its time too, it has read the clock already.
  const int64_t left_at = self->carrier->left_at_cpu_ns;
  time.offset = time.before - (left_at >= 0 ? left_at : thread_cpu_ns());
  set_state(time, CpuTime::here);
}

int64_t own_cpu_time() noexcept {
  Context* self = current_context();
  if (self->cpu_time.state == CpuTime::unasked) {
    // A handler asks for the first time, and its context is about to leave: from this switch it cannot begin to count.
    if (std::atomic_ref(self->departure).load(std::memory_order_relaxed) != Departure::none) return 0;
    begin_to_count(self);
  }
  const CpuTime& time = self->cpu_time;
  return time.state == CpuTime::away ? time.before : thread_cpu_ns() + time.offset;
}

}  // namespace weft::core
