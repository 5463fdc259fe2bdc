// SPDX-License-Identifier: Apache-2.0
#include "openmp/task/timed_wait.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include <pthread.h>

#include "base/message.h"
#include "core/api/records.h"
#include "core/api/wait.h"
#include "openmp/task/stand_in.h"
#include "platform/cycles.h"
#include "platform/generation.h"
#include "platform/spinlock.h"

namespace weft::openmp {

namespace {

// The record of a task that waits; it lies on that task's stack.
struct Sleeper {
  int64_t due_ns;
  core::Context* context;
  // Sequentially consistent, as a word between block() and unblock(). The record is gone a moment after it is set.
  std::atomic<bool> woken{false};
  Sleeper* next = nullptr;
};

// All tasks that wait for a time. `earliest_ns`: when the first one is due. Most looks are made in vain, and read only
// that.
struct Clock {
  platform::Spinlock lock;
  Sleeper* first = nullptr;
  int count = 0;
  int64_t earliest_ns = INT64_MAX;
  uint32_t generation = 0;  // of the process
};
Clock g_clock;

// Called with the lock held. In the child of a fork it forgets the sleepers: their threads do not exist there.
void leave_sleepers_to_parent() noexcept {
  if (std::exchange(g_clock.generation, platform::generation()) == platform::generation()) return;
  g_clock.first = nullptr;
  g_clock.count = 0;
  g_clock.earliest_ns = INT64_MAX;
}

// Takes the sleepers out that are due. Called with the lock held.
Sleeper* take_due(int64_t now_ns) noexcept {
  Sleeper* due = nullptr;
  int64_t earliest_ns = INT64_MAX;
  for (Sleeper** at = &g_clock.first; Sleeper* sleeper = *at;) {
    if (sleeper->due_ns > now_ns) {
      earliest_ns = std::min(earliest_ns, sleeper->due_ns);
      at = &sleeper->next;
      continue;
    }
    *at = sleeper->next;
    sleeper->next = due;
    due = sleeper;
    --g_clock.count;
  }
  g_clock.earliest_ns = earliest_ns;
  return due;
}

// The polling service: wakes the sleepers that are due. Returns how many are left; while there are some it is called
// again. They wait for no message, so they do not count as pending arrivals (PollingAnswer::more).
int look_at_clock(void*) {
  Sleeper* due = nullptr;
  int left = 0;
  {
    const std::lock_guard guard(g_clock.lock);
    leave_sleepers_to_parent();
    const int64_t now_ns = platform::now_ns();
    if (now_ns >= g_clock.earliest_ns) due = take_due(now_ns);
    left = g_clock.count;
  }
  while (due != nullptr) {
    core::Context* context = due->context;
    Sleeper* next = due->next;
    due->woken.store(true);
    core::unblock(context);
    due = next;
  }
  return left;
}

void register_once() noexcept {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] {
    if (core::register_polling_service(look_at_clock, nullptr, core::PollingAnswer::more) != 0)
      base::fatal("timed waits of tasks: the process has too many polling services");
  });
}

void add(Sleeper* sleeper) noexcept {
  const std::lock_guard guard(g_clock.lock);
  leave_sleepers_to_parent();
  sleeper->next = g_clock.first;
  g_clock.first = sleeper;
  ++g_clock.count;
  g_clock.earliest_ns = std::min(g_clock.earliest_ns, sleeper->due_ns);
}

}  // namespace

void pause_for(Member* self, int64_t ns) noexcept {
  register_once();
  const int64_t now_ns = platform::now_ns();
  Sleeper sleeper{.due_ns = ns < INT64_MAX - now_ns ? now_ns + ns : INT64_MAX, .context = self->context};
  add(&sleeper);
  core::poll_soon();
  const Absence absence(self);
  while (!sleeper.woken.load()) block_between_tasks(self);
}

}  // namespace weft::openmp
