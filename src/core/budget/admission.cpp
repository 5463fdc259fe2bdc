// SPDX-License-Identifier: Apache-2.0
#include "core/sched/admission.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/keep_errno.h"
#include "core/sched/pool.h"
#include "core/sched/roots.h"
#include "core/sched/start.h"
#include "core/sched/watcher.h"
#include "platform/futex.h"
#include "platform/thread_state.h"

namespace weft::core {

std::atomic<uint32_t> g_turnstile{0};

namespace {

// A root that waits looks this often whether anything goes on in the process at all. Carriers that are all asleep at
// two looks, with less CPU time than this in between, may be waiting for this very region.
constexpr int64_t kLookNs = 100'000'000;
constexpr int64_t kAsleepNs = 5'000'000;

// A root that waits; the record lies on its own stack.
struct Waiter {
  int calls;
  uint64_t ticket;  // of the node
  Waiter* next = nullptr;
  std::atomic<uint32_t> admitted{0};  // release by its admitter, acquire by itself: it is in nobody's list then
};

// All under the lock.
platform::FutexLock g_lock;
Admission g_admission = Admission::all;
int g_inside = 0;  // regions
int g_calls = 0;  // of these regions
Waiter* g_first = nullptr;
Waiter* g_last = nullptr;
// Regions that are inside or wait; changed under the lock.
std::atomic<int> g_pending{0};

// A region that is larger than the machine fits when it is alone.
bool fits(int calls) noexcept {
  if (g_inside == 0) return true;
  return g_admission == Admission::fitting && g_calls + calls <= slots();
}

// Lets the region in if it may begin, here and on the node; or if it is its turn, `anyway`.
bool enter(int calls, uint64_t ticket, bool anyway = false) noexcept {
  if (!(anyway || fits(calls)) || !pool().node.enter_queue(ticket, calls, anyway)) return false;
  ++g_inside;
  g_calls += calls;
  return true;
}

// Takes the first waiter out of the queue and wakes it: its region has entered.
void admit_first() noexcept {
  Waiter* waiter = g_first;
  g_first = waiter->next;
  if (g_first == nullptr) g_last = nullptr;
  // From here on the waiter may be gone; the futex of a word that is no more wakes nobody.
  waiter->admitted.store(1, std::memory_order_release);
  platform::futex_wake(waiter->admitted, 1);
}

void admit_all_that_may() noexcept {
  while (g_first != nullptr && enter(g_first->calls, g_first->ticket)) admit_first();
}

// A carrier that waits for a CPU, on a busy machine, is not asleep.
bool all_asleep_but(const Carrier* self) noexcept {
  const Pool& p = pool();
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Carrier* carrier = p.carrier(i);
    const pid_t thread = carrier->thread_id.load(std::memory_order_relaxed);
    if (carrier != self && thread != 0 && platform::thread_state(thread) == platform::ThreadState::running)
      return false;
  }
  return true;
}

void await(const Carrier* root, Waiter& self) noexcept {
  int64_t used = platform::cpu_time_ns();
  bool asleep = false;
  while (self.admitted.load(std::memory_order_acquire) == 0) {
    if (!platform::futex_wait_for(self.admitted, 0, kLookNs)) continue;
    // The CPU time that this process has used, and that those on the node have used whose regions are inside.
    int64_t now = platform::cpu_time_ns();
    const bool others_sleep = pool().node.others_sleep(now);
    const bool slept = asleep && now >= used && now - used < kAsleepNs;
    used = now;
    asleep = others_sleep && all_asleep_but(root);
    if (!asleep || !slept) continue;
    g_lock.lock();
    if (g_first == &self && enter(self.calls, self.ticket, true)) admit_first();
    g_lock.unlock();
  }
}

}  // namespace

void set_admission(Admission admission) noexcept {
  g_admission = admission;
  g_turnstile.store(admission != Admission::all ? uint32_t{Turnstile::limited} : 0, std::memory_order_relaxed);
}

void admit(Carrier* root, int calls) noexcept {
  const base::KeepErrno keep;
  NodeBudget& node = pool().node;
  // Another root may be about to start the pool: a root that goes in before the process has joined is not counted, but
  // would be when it goes out.
  if (NodeBudget::wanted(pool().settings)) await_monitor();
  if ((g_turnstile.load(std::memory_order_relaxed) & Turnstile::others_turn) != 0) node.await_turn(pool(), root);
  if (g_admission == Admission::all) return;
  root->admitted = calls;
  g_pending.fetch_add(1);
  g_lock.lock();
  Waiter self{calls, node.draw_ticket()};
  const bool at_once = g_first == nullptr && enter(calls, self.ticket);
  if (!at_once) {
    (g_last != nullptr ? g_last->next : g_first) = &self;
    g_last = &self;
  }
  g_lock.unlock();
  if (at_once) return;
  release_slot(root);
  // While the root waits, the monitor shows the other processes that this one is alive.
  wake_monitor();
  await(root, self);
}

void dismiss(Carrier* root) noexcept {
  const int calls = std::exchange(root->admitted, 0);
  g_lock.lock();
  --g_inside;
  g_calls -= calls;
  pool().node.leave_queue(calls);
  admit_all_that_may();
  g_lock.unlock();
  g_pending.fetch_sub(1);
}

bool admissions_pending() noexcept { return g_pending.load() > 0; }

void retry_admissions() noexcept {
  g_lock.lock();
  admit_all_that_may();
  g_lock.unlock();
}

void forget_admissions() noexcept {
  g_inside = 0;
  g_calls = 0;
  g_first = nullptr;
  g_last = nullptr;
  g_pending.store(0);
  g_turnstile.fetch_and(~uint32_t{Turnstile::others_turn});
  // The child leaves the region it was forked in without having entered it.
  if (Carrier* const home = current_context()->home) home->admitted = 0;
}

}  // namespace weft::core
