// SPDX-License-Identifier: Apache-2.0
#include "core/admission.h"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <new>
#include <utility>

#include "base/keep_errno.h"
#include "core/pool.h"
#include "platform/futex.h"
#include "platform/thread_state.h"

namespace weft::core {

bool g_admission_limited = false;

namespace {

// Who waits looks this often whether anything goes on in the process at all. Carriers that are all asleep at two looks,
// with less CPU time than this in between, may be waiting for this very region.
constexpr int64_t kLookNs = 100'000'000;
constexpr int64_t kAsleepNs = 5'000'000;

// One that waits, on its own stack.
struct Waiter {
  int calls;
  Waiter* next = nullptr;
  std::atomic<uint32_t> admitted{0};  // release by who admits it, acquire by itself: it is in nobody's list then
};

// All under the lock.
FutexLock g_lock;
Admission g_admission = Admission::all;
int g_inside = 0;  // regions
int g_calls = 0;  // of these regions
Waiter* g_first = nullptr;
Waiter* g_last = nullptr;

// A region that is larger than the machine fits when it is alone.
bool fits(int calls) noexcept {
  if (g_inside == 0) return true;
  return g_admission == Admission::fitting && g_calls + calls <= slots();
}

void enter(int calls) noexcept {
  ++g_inside;
  g_calls += calls;
}

void admit_first() noexcept {
  Waiter* waiter = g_first;
  g_first = waiter->next;
  if (g_first == nullptr) g_last = nullptr;
  enter(waiter->calls);
  // From here on the waiter may be gone; the futex of a word that is no more wakes nobody.
  waiter->admitted.store(1, std::memory_order_release);
  platform::futex_wake(waiter->admitted, 1);
}

int64_t cpu_time() noexcept {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// One that waits for a CPU, on a busy machine, is not asleep.
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
  int64_t used = cpu_time();
  bool asleep = false;
  while (self.admitted.load(std::memory_order_acquire) == 0) {
    if (!platform::futex_wait_for(self.admitted, 0, kLookNs)) continue;
    const int64_t now = cpu_time();
    const bool slept = asleep && now - used < kAsleepNs;
    used = now;
    asleep = all_asleep_but(root);
    if (!asleep || !slept) continue;
    g_lock.lock();
    if (g_first == &self) admit_first();
    g_lock.unlock();
  }
}

}  // namespace

void set_admission(Admission admission) noexcept {
  g_admission = admission;
  g_admission_limited = admission != Admission::all;
}

void admit(Carrier* root, int calls) noexcept {
  root->admitted = calls;
  Waiter self{calls};
  g_lock.lock();
  const bool at_once = g_first == nullptr && fits(calls);
  if (at_once) {
    enter(calls);
  } else {
    (g_last != nullptr ? g_last->next : g_first) = &self;
    g_last = &self;
  }
  g_lock.unlock();
  if (at_once) return;
  release_slot(root);
  const base::KeepErrno keep;
  await(root, self);
}

void dismiss(Carrier* root) noexcept {
  const int calls = std::exchange(root->admitted, 0);
  g_lock.lock();
  // The child of a fork leaves the region it was forked in without having entered it.
  g_inside = std::max(g_inside - 1, 0);
  g_calls = std::max(g_calls - calls, 0);
  while (g_first != nullptr && fits(g_first->calls)) admit_first();
  g_lock.unlock();
}

void forget_admissions() noexcept {
  new (&g_lock) FutexLock;
  g_inside = 0;
  g_calls = 0;
  g_first = nullptr;
  g_last = nullptr;
}

}  // namespace weft::core
