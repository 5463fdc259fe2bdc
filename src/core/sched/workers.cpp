// SPDX-License-Identifier: Apache-2.0
// The pool and its OS threads.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "base/message.h"
#include "core/context/create_thread.h"
#include "core/context/own_settings.h"
#include "core/context/signals.h"
#include "core/context/stack_overflow.h"
#include "core/sched/admission.h"
#include "core/sched/carrier_binding.h"
#include "core/sched/free_contexts.h"
#include "core/sched/gang_regions.h"
#include "core/sched/guest_slots.h"
#include "core/sched/idle.h"
#include "core/sched/job_tokens.h"
#include "core/sched/parking.h"
#include "core/sched/polling.h"
#include "core/sched/pool.h"
#include "core/sched/start.h"
#include "core/sched/switching.h"
#include "core/sched/upcalls.h"
#include "core/sched/watcher.h"
#include "platform/futex.h"
#include "platform/locked_memory.h"
#include "platform/rseq.h"
#include "platform/service_thread.h"

namespace weft::core {

std::atomic<Pool*> g_pool{nullptr};

namespace {

platform::FutexLock g_start_lock;

// The size of a worker's stack, without its guard: whole pages.
size_t stack_size_of_worker() noexcept {
  constexpr size_t kForTheLoop = 64u << 10;  // for the scheduler's loop
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (pool().settings.stack_size + kForTheLoop + page - 1) / page * page;
}

bool start_thread(Carrier* carrier, bool has_room) noexcept;

// Lets a worker begin: the thread that has made it has noted where its stack ends, and the carrier stands in the table.
void let_begin(Carrier* carrier) noexcept {
  // Release, with the acquire of await_begin(): the worker sees what has been written before.
  if (carrier->begins.exchange(Begins::at_once, std::memory_order_release) != Begins::asleep) return;
  platform::futex_wake(carrier->begins, 1);
}

void await_begin(Carrier* carrier) noexcept {
  // The thread that has made the worker calls let_begin() in a moment, unless it has lost its CPU.
  constexpr int kLooks = 4;
  for (int i = 0; i < kLooks; ++i) {
    if (carrier->begins.load(std::memory_order_acquire) == Begins::at_once) return;
    sched_yield();
  }
  uint32_t expected = Begins::later;
  carrier->begins.compare_exchange_strong(expected, Begins::asleep, std::memory_order_acquire);
  while (carrier->begins.load(std::memory_order_acquire) != Begins::at_once) {
    platform::futex_wait(carrier->begins, Begins::asleep);
  }
}

void* worker_main(void* argument) {
  auto* carrier = static_cast<Carrier*>(argument);
  Pool& p = pool();
  const WorkerStack memory = carrier->stack;
  if (memory.stack != nullptr) memory.guard();
  await_begin(carrier);
  platform::leave_service_name();
  const bool left = platform::leave_rseq();
  platform::take_rseq_area(carrier->rseq_area);
  refuse_cancellation();
  pthread_sigmask(SIG_SETMASK, &p.signal_mask, nullptr);
  Context* self = &carrier->own_context;
  bind_identity(self);
  carrier->own_identity.store(self->thread_pointer, std::memory_order_relaxed);
  carrier->thread_id.store(self->thread_id, std::memory_order_relaxed);
  const AlternateStack alternate_stack(memory.handlers);
  bind_new_worker(carrier);
  self->carrier = carrier;
  self->root = nullptr;
  self->pinned = false;
  self->cpu_time = {};
  carrier->counted_ns.store(0, std::memory_order_relaxed);  // a new thread has a new clock
  if (self->own != nullptr) *self->own = OwnSettings();  // the carrier's last thread had another identity
  self->born = p.release_requests.load(std::memory_order_relaxed);
  // The worker counted as idle before its start, and has no slot of the node yet: it begins like one that has slept.
  idle(self);
  // If the kernel has refused to leave the rseq area of the thread's own identity, it goes on writing there. Then that
  // identity stays unused on this thread, which runs the loop as another one.
  if (Context* other = left ? nullptr : take_free(carrier, 0)) switch_to(other);
  for (;;) {
    run_for_ever();
    // The worker's own identity is to end, and its thread with it: a new thread goes on as this carrier.
    self->ends = false;
    platform::drop_rseq_area(carrier->rseq_area);
    p.lock.lock();
    const bool succeeded = start_thread(carrier, false);
    p.lock.unlock();
    if (succeeded) break;
    platform::take_rseq_area(carrier->rseq_area);
    self->born = p.release_requests.load(std::memory_order_relaxed);
  }
  if (p.settings.identity_ends != nullptr) p.settings.identity_ends();
  bind_identity(nullptr);
  // Only now the new thread may begin: its identity has the same record, by which a sender of signals finds it.
  let_begin(carrier);
  if (memory.stack != nullptr) memory.give_back();
  return nullptr;
}

// With the pool's lock held. `has_room`: it is known that there is address space for it.
bool start_thread(Carrier* carrier, bool has_room) noexcept {
  carrier->begins.store(Begins::later, std::memory_order_relaxed);  // published by the start of the thread
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  carrier->stack = pool().worker_stacks.take();
  char* const stack = carrier->stack.stack;
  if (stack != nullptr) {
    pthread_attr_setstack(&attributes, stack, stack_size_of_worker());
  } else {
    pthread_attr_setstacksize(&attributes, kGuardSize + stack_size_of_worker());
    pthread_attr_setguardsize(&attributes, kGuardSize);
  }
  pthread_t thread;
  const int error = stack != nullptr || has_room || has_room_for(kGuardSize + stack_size_of_worker())
                        ? create_thread(&thread, attributes, worker_main, carrier, !pool().contexts.refused())
                        : ENOMEM;
  pthread_attr_destroy(&attributes);
  if (error == 0) {
    carrier->own_context.stack_end = stack != nullptr ? reinterpret_cast<uintptr_t>(stack) : stack_of(thread).end;
  } else {
    if (stack != nullptr) pool().worker_stacks.put_back();
    carrier->stack = {};
    pool().contexts.note_refusal(error);
  }
  return error == 0;
}

bool start_worker(bool has_room) noexcept {
  const base::KeepErrno keep;
  Pool& p = pool();
  p.lock.lock();
  const int index = p.carrier_count.load(std::memory_order_relaxed);
  const int worker = p.worker_count.load(std::memory_order_relaxed);
  Carrier* carrier = worker < kMaxWorkers ? new (std::nothrow) Carrier(index, worker) : nullptr;
  bool started = false;
  if (carrier != nullptr) {
    started = start_thread(carrier, has_room);
    if (started) {
      // It counts as idle before it runs: a thread that counts idle carriers now may rely on it.
      p.idle.add(index);
      p.carriers.put(index, carrier);
      p.carrier_count.store(index + 1, std::memory_order_release);
      p.workers.put(worker, carrier);
      p.worker_count.store(worker + 1, std::memory_order_release);
      let_begin(carrier);
    } else {
      delete carrier;
    }
  }
  p.lock.unlock();
  return started;
}

// The child of a fork has one thread, the caller. The other threads are gone, and the locks, contexts and carriers that
// they held stay held; so the child starts over at its next region, and the old pool stays, unused.
void forget_in_child() {
  g_pool.store(nullptr, std::memory_order_release);
  Context* self = current_context();
  self->carrier = nullptr;
  self->donated = false;  // the identity is the initial thread's now
  self->attention.store(0, std::memory_order_relaxed);  // the threads that were sending it signals do not exist here
  bind_identity(self);  // the OS thread's own identity is the one that called fork(), and its number is new
  forget_admissions();
  forget_parked();
  forget_pollers();
  forget_monitor();
  forget_job_tokens();
  g_gang_regions.clear();  // the monitor that looks at these verdicts again was the parent's
  g_start_lock.unlock();
}

// No thread may be inside start() while the process is copied.
void before_fork() { g_start_lock.lock(); }
void after_fork_in_parent() { g_start_lock.unlock(); }

}  // namespace

void grow_workers(int count) noexcept {
  const int missing = count - pool().worker_count.load(std::memory_order_acquire);
  if (missing <= 0) return;
  // One look for room for all threads together: each look is two system calls.
  const bool has_room =
      missing > 1 && has_room_for(static_cast<size_t>(missing) * (kGuardSize + stack_size_of_worker()));
  Pool& p = pool();
  if (has_room) {
    p.lock.lock();
    p.worker_stacks.reserve(missing, stack_size_of_worker());
    p.lock.unlock();
  }
  while (p.worker_count.load(std::memory_order_acquire) < count) {
    if (!start_worker(has_room)) break;
  }
  if (has_room) {
    p.lock.lock();
    p.worker_stacks.release();
    p.lock.unlock();
  }
  if (platform::new_memory_is_locked()) p.memory_is_locked.store(true, std::memory_order_relaxed);
}

void want_workers(int members) noexcept { grow_workers(std::min(members, pool().settings.slots) - 1); }

void want_worker_beside_roots() noexcept { grow_workers(1); }

void start(const Settings& settings) noexcept {
  if (g_pool.load(std::memory_order_acquire) != nullptr) return;
  g_start_lock.lock();
  if (g_pool.load(std::memory_order_relaxed) == nullptr) {
    static bool once = [&settings] {
      set_departure_handler(departed);
      set_identity_begin(settings.identity_begins);
      set_identity_end(settings.identity_ends);
      pthread_atfork(before_fork, after_fork_in_parent, forget_in_child);
      std::at_quick_exit(end_job_tokens);
      std::atexit([] {
        if (!started()) return;
        end_job_tokens();
        pool().exits.store(true, std::memory_order_relaxed);
        pool().surplus.stop(pool());
        pool().node.leave();
      });
      return true;
    }();
    static_cast<void>(once);
    auto* made = new (std::nothrow) Pool(settings);
    if (made == nullptr) base::lacking("no memory for the pool of threads");
    set_admission(settings.admission);
    begin_guests(*made);
    begin_job_tokens(*made);
    g_pool.store(made, std::memory_order_release);
    watch_stacks(settings.stack_size);
    start_monitor();
  }
  g_start_lock.unlock();
}

bool started() noexcept { return g_pool.load(std::memory_order_acquire) != nullptr; }

int slots() noexcept { return pool().settings.slots; }

Totals totals() noexcept {
  Totals sum;
  Pool* p = g_pool.load(std::memory_order_acquire);
  if (p == nullptr) return sum;
  const int count = p->carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Statistics& s = p->carrier(i)->statistics;
    sum.calls += s.calls.get();
    sum.claims += s.claims.get();
    sum.switches += s.switches.get();
    sum.steals += s.steals.get();
    sum.parks += s.parks.get();
    sum.blocks += s.blocks.get();
    sum.late_threads += s.lates.get() > 0 ? 1 : 0;
  }
  sum.compensations = p->compensations.load(std::memory_order_relaxed);
  sum.regions_lent = p->regions_lent.load(std::memory_order_relaxed);
  sum.peak_threads = count;
  p->lock.lock();
  sum.donors = static_cast<int>(p->contexts.size());
  sum.donor_threads = static_cast<int>(p->contexts.threads());
  sum.peak_donors = static_cast<int>(p->contexts.most());
  sum.donors_ended = static_cast<int>(p->contexts.withdrawn());
  p->lock.unlock();
  return sum;
}

}  // namespace weft::core
