// SPDX-License-Identifier: Apache-2.0
#include "adopt/fork.h"

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

#include <pthread.h>

#include "adopt/copy.h"
#include "core/parking.h"
#include "platform/fence.h"
#include "platform/futex.h"

namespace weft::adopt {

namespace {

// Calls that run. Who begins one counts itself and then looks for forks; who forks announces itself and then looks for
// calls: one of the two sees the other.
std::atomic<uint32_t> g_calls{0};
// How many handlers of a fork have run: the handler is there once for each copy.
std::atomic<uint32_t> g_forks{0};

std::atomic<bool> g_is_new{false};  // a child whose first call has not been seen

void before() noexcept {
  g_forks.fetch_add(1);
  platform::full_fence_after_update();
  // The thread sleeps, with whatever context runs on it: there are locks of libc's on its stack.
  for (uint32_t calls = g_calls.load(); calls != 0; calls = g_calls.load()) platform::futex_wait(g_calls, calls);
}

// Copies end their threads at a fork, and make them anew when a call finds none. Two calls that find none at the same
// time may take each other's buffers away. Those that have none to make are told that they have them. The others make
// them before calls go on, in the parent; in a child, which may be one that only starts another program, at its
// first call, which gives others the time to be past that.
void start_again(bool in_child) noexcept {
  for (int i = 0; i < copy_count(); ++i) {
    const OpenBlas& library = copy(i)->library;
    if (__atomic_load_n(library.own, __ATOMIC_RELAXED) == 1) {
      __atomic_store_n(library.started, 1, __ATOMIC_RELEASE);
    } else if (in_child) {
      g_is_new.store(true, std::memory_order_relaxed);
    } else {
      library.start_own();
    }
  }
}

void after_in_parent() noexcept {
  start_again(false);
  if (g_forks.fetch_sub(1) == 1) core::unpark(g_forks, INT_MAX);
}

void after_in_child() noexcept {
  start_again(true);
  g_forks.fetch_sub(1);
}

constexpr timespec kTimeToMakeThreads{0, 1'000'000};

void leave() noexcept {
  if (g_calls.fetch_sub(1) != 1) return;
  platform::full_fence_after_update();
  if (g_forks.load(std::memory_order_relaxed) > 0) platform::futex_wake(g_calls, INT_MAX);
}

}  // namespace

void wait_at_fork() noexcept { pthread_atfork(before, after_in_parent, after_in_child); }

void begin_call() noexcept {
  for (;;) {
    g_calls.fetch_add(1);
    platform::full_fence_after_update();
    const uint32_t forks = g_forks.load();
    if (forks == 0) break;
    leave();
    core::park(g_forks, forks);
  }
  const bool is_new = g_is_new.load(std::memory_order_relaxed) && g_is_new.exchange(false, std::memory_order_relaxed);
  if (is_new) nanosleep(&kTimeToMakeThreads, nullptr);
}

void end_call() noexcept { leave(); }

}  // namespace weft::adopt
