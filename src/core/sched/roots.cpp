// SPDX-License-Identifier: Apache-2.0
// Threads that are not the pool's: they attach at their first region and leave when they end.
#include <algorithm>
#include <new>
#include <utility>

#include <time.h>
#include <unistd.h>

#include "base/message.h"
#include "core/context/own_settings.h"
#include "core/context/signals.h"
#include "core/sched/admission.h"
#include "core/sched/block.h"
#include "core/sched/free_contexts.h"
#include "core/sched/guest_slots.h"
#include "core/sched/pool.h"
#include "core/sched/roots.h"
#include "core/sched/waking.h"
#include "core/sched/watcher.h"
#include "platform/fence.h"
#include "platform/system_call.h"

namespace weft::core {

Carrier* take_root_carrier() noexcept {
  Pool& p = pool();
  p.lock.lock();
  Carrier* carrier = p.spare_roots;
  if (carrier != nullptr) {
    p.spare_roots = carrier->next_spare;
  } else {
    const int index = p.carrier_count.load(std::memory_order_relaxed);
    const int roots = index - p.worker_count.load(std::memory_order_relaxed);
    if (roots < kMaxRoots) carrier = new (std::nothrow) Carrier(index, -1);
    if (carrier != nullptr) {
      p.carriers.put(index, carrier);
      p.carrier_count.store(index + 1, std::memory_order_release);
    }
  }
  p.lock.unlock();
  return carrier;
}

void put_root_carrier(Carrier* carrier) noexcept {
  Pool& p = pool();
  p.lock.lock();
  Carrier*& spare = carrier->is_listed() ? p.spare_roots : p.spare_unlisted;
  carrier->next_spare = spare;
  spare = carrier;
  p.lock.unlock();
}

namespace {

// Returns a carrier for a root that the table has no room for. It is never freed, as the others are not, since a late
// unblock() may still touch it.
Carrier* take_unlisted_carrier() noexcept {
  // Relaxed: it only keeps the line from being said twice.
  static std::atomic<bool> said{false};
  if (!said.exchange(true, std::memory_order_relaxed)) {
    base::warn("more than %d threads of the program use OpenMP at the same time: the regions of further ones run alone",
               kMaxRoots);
  }
  Pool& p = pool();
  p.lock.lock();
  Carrier* carrier = p.spare_unlisted;
  if (carrier != nullptr) p.spare_unlisted = carrier->next_spare;
  p.lock.unlock();
  if (carrier == nullptr) carrier = new (std::nothrow) Carrier(kMaxCarriers, -1);
  if (carrier == nullptr) base::lacking("no memory for the first use of OpenMP by a thread");
  return carrier;
}

}  // namespace

Context* attach() noexcept {
  Context* self = current_context();
  if (self->carrier != nullptr) return self;
  Carrier* carrier = take_root_carrier();
  if (carrier == nullptr) carrier = take_unlisted_carrier();
  self = &carrier->own_context;
  bind_identity(self);
  carrier->thread_id.store(self->thread_id, std::memory_order_relaxed);
  self->carrier = carrier;
  self->home = carrier;
  self->root = carrier;
  self->token.store(Token::none);
  self->cpus = nullptr;
  self->pinned = false;
  self->cpu_time = {};
  carrier->counted_ns.store(0, std::memory_order_relaxed);
  carrier->regions_at_attach = carrier->regions_seen.load(std::memory_order_relaxed);
  if (self->own != nullptr) *self->own = OwnSettings();
  self->rseq = Rseq::held;
  self->guest_part.store(guest_part_of_caller(), std::memory_order_relaxed);
  carrier->cpus.store(nullptr, std::memory_order_relaxed);
  carrier->own_identity.store(self->thread_pointer, std::memory_order_relaxed);
  return self;
}

void detach() noexcept {
  Context* self = current_context();
  if (self->carrier == nullptr || self->home == nullptr) return;
  // After a wait the root may be on a worker's OS thread. That would end in place of the root's own. The end waits for
  // what holds the own one, and where no free context is there to leave to, until there is one.
  for (int round = 0; self->carrier != self->home; ++round) {
    constexpr int kYields = 16;
    constexpr timespec kNap{0, 1'000'000};
    return_home(self);
    if (round < kYields) {
      platform::system_call(SYS_sched_yield);
    } else {
      platform::system_call(SYS_nanosleep, &kNap, nullptr);
    }
  }
  Carrier* carrier = self->carrier;
  const bool initial = self->thread_id == getpid();
  // Relaxed: this thread has written it.
  const bool had_regions = carrier->regions_seen.load(std::memory_order_relaxed) != carrier->regions_at_attach;
  release_slot(carrier);
  if (self->rseq != Rseq::held) platform::drop_rseq_area(carrier->rseq_area);
  self->carrier = nullptr;
  // The thread's number and its carrier will be another thread's.
  carrier->thread_id.store(0, std::memory_order_relaxed);
  carrier->own_identity.store(0, std::memory_order_relaxed);
  std::atomic_ref(self->thread_id).store(0, std::memory_order_relaxed);
  shelve(carrier, 0);
  // Only after that another thread may have the record.
  bind_identity(nullptr);
  put_root_carrier(carrier);
  if (had_regions) {
    pool().roots_ended.fetch_add(1);
    wake_monitor();
  }
  if (initial) end_after_last_thread();
}

void*& kept_by_carrier() noexcept { return current_context()->carrier->kept; }

int carrier_number() noexcept {
  const Carrier* carrier = current_context()->carrier;
  return carrier != nullptr && carrier->is_listed() ? carrier->index : -1;
}

pid_t thread_id() noexcept { return current_context()->carrier->thread_id.load(std::memory_order_relaxed); }

void release_slot(Carrier* root) noexcept {
  if (!root->holds_slot.exchange(false)) return;
  Pool& p = pool();
  p.node.root_ends(root);
  return_slots(p, 1);
}

void return_slots(Pool& p, int count) noexcept {
  p.active_roots.fetch_sub(count);
  platform::full_fence_after_update();
  // `count` more workers may run now. They may have fallen asleep although work stands in their lists.
  const int allowed = p.worker_limit();
  const int there = std::min(allowed, p.worker_count.load(std::memory_order_acquire));
  // And so many of the workers that were lent to regions may do any work now.
  const int changed = p.free_limit() - count;
  for (int i = std::max(0, changed); i < there; ++i) wake_for_work(p.worker(i));
}

void hold_slot(Carrier* root) noexcept {
  if (root->holds_slot.load(std::memory_order_relaxed)) return;
  if (!root->holds_slot.exchange(true)) {
    pool().active_roots.fetch_add(1);
    pool().node.root_begins(root);
  }
  wake_monitor();
}

void note_yield_of(Carrier* root) noexcept {
  // Fewer yields in a row are a short wait; to give the slot away and get it back takes longer.
  constexpr uint32_t kYieldsOfAWait = 16;
  if (root->regions_open.load(std::memory_order_relaxed) != 0 || !root->holds_slot.load(std::memory_order_relaxed))
    return;
  const uint32_t regions = root->regions_seen.load(std::memory_order_relaxed);
  if (std::exchange(root->yields_since, regions) != regions) root->yields = 0;
  if (++root->yields < kYieldsOfAWait) return;
  root->yields = 0;
  Pool& p = pool();
  if (p.node.owes_cpu(p)) release_slot(root);
}

void note_yield() noexcept {
  if (runs_handlers_of_another()) return;
  if (Carrier* const home = current_context()->home; home != nullptr) note_yield_of(home);
}

void enter_region(Context* self, int calls) noexcept {
  Carrier* home = self->home;
  const int open = home->regions_open.load(std::memory_order_relaxed) + 1;
  if (__builtin_expect(g_turnstile.load(std::memory_order_relaxed), 0) != 0 && open == 1 && calls > 1)
    admit(home, calls);
  // Only after the admission: the monitor takes care that a root in a region holds its slot.
  home->regions_open.store(open, std::memory_order_relaxed);
  hold_slot(home);
}

void leave_region(Context* self) noexcept {
  Carrier* home = self->home;
  home->regions_seen.store(home->regions_seen.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  const int open = home->regions_open.load(std::memory_order_relaxed) - 1;
  home->regions_open.store(open, std::memory_order_relaxed);
  if (__builtin_expect(g_turnstile.load(std::memory_order_relaxed), 0) != 0 && open == 0 && home->admitted > 0)
    dismiss(home);
  if (open == 0 && self->carrier != home) return_home(self);
}

}  // namespace weft::core
