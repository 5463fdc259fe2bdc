// SPDX-License-Identifier: Apache-2.0
#include "interpose/fork.h"

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

#include <pthread.h>

#include "core/api/wait.h"
#include "interpose/copy.h"
#include "interpose/gang.h"
#include "interpose/gang_queue.h"
#include "interpose/product_locks.h"
#include "interpose/sequence.h"
#include "interpose/thread_share.h"
#include "platform/fence.h"
#include "platform/futex.h"
#include "platform/futex_lock.h"

namespace weft::interpose {

namespace {

// How many calls run, and how many forks wait for them. A thread that begins a call counts itself and then looks for
// forks; a thread that forks announces itself and then looks for calls. So one of the two sees the other.
std::atomic<uint32_t> g_calls{0};
std::atomic<uint32_t> g_forks{0};

// Lets one fork happen at a time. It is locked before the fork, and unlocked after it in both processes.
platform::FutexLock g_fork_lock;
int g_copies_before = 0;  // how many copies there were when the fork began
// Each copy has registered the handlers once. The first one that runs before a fork does the work, and the last one
// after it.
thread_local int t_handlers = 0;

std::atomic<bool> g_is_new{false};  // whether this is a child that has made no call yet

// Threads that have just ended a call get this time to leave the library, which has locks.
constexpr timespec kTimeToLeave{0, 200'000};

bool some_have_threads() noexcept {
  for (int i = 0; i < copy_count(); ++i) {
    if (!copy(i)->whole) return true;
  }
  return false;
}

void before() noexcept {
  if (t_handlers++ > 0) return;
  g_fork_lock.lock();
  g_copies_before = copy_count();
  g_forks.store(1);
  platform::full_fence();
  if (some_have_threads()) {
    // The OS thread sleeps here, rather than the context that runs on it: fork() holds locks of libc's.
    for (uint32_t calls = g_calls.load(); calls != 0; calls = g_calls.load()) platform::futex_wait(g_calls, calls);
    nanosleep(&kTimeToLeave, nullptr);
  }
  before_fork();
  lock_gangs();
  for (int i = 0; i < g_copies_before; ++i) copy(i)->numbers.before_fork();
}

// A copy that has threads of its own makes them anew when a call finds none. Two calls that find none at the same time
// may take each other's buffers away. So in the parent the threads are made here, before calls go on. A child may only
// start another program, so there its first call waits a moment at its beginning, in which other calls get past this.
void start_again(const Copy* copy, bool in_child) noexcept {
  if (copy->whole) return;
  if (in_child) {
    g_is_new.store(true, std::memory_order_relaxed);
  } else {
    copy->library.start_own();
  }
}

void after(bool in_child) noexcept {
  if (--t_handlers > 0) return;
  for (int i = 0; i < g_copies_before; ++i) {
    copy(i)->numbers.after_fork(in_child);
    start_again(copy(i), in_child);
  }
  unlock_gangs(in_child);
  after_fork(in_child);
  if (in_child) {
    // Threads that do not exist here may have counted themselves, and been about to wait for the fork.
    g_calls.store(0);
    forget_turns();
    free_locks();
    Sequence::forget_all();
  }
  g_forks.store(0);
  if (!in_child) core::unpark(g_forks, INT_MAX);
  g_fork_lock.unlock();
}

constexpr timespec kTimeToMakeThreads{0, 1'000'000};

void leave() noexcept {
  if (g_calls.fetch_sub(1) != 1) return;
  platform::full_fence_after_update();
  if (g_forks.load(std::memory_order_relaxed) > 0) platform::futex_wake(g_calls, INT_MAX);
}

}  // namespace

void handle_forks() noexcept {
  pthread_atfork(before, [] { after(false); }, [] { after(true); });
}

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

}  // namespace weft::interpose
