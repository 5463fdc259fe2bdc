// SPDX-License-Identifier: Apache-2.0
#include "observe/record/trace/so_far.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/cycles.h"
#include "platform/futex.h"
#include "platform/service_thread.h"

namespace weft::observe::trace {

namespace {

constexpr int64_t kFirst = 500'000'000;
constexpr int64_t kPartOfTime = 50;

enum : uint32_t { kNone, kRuns, kStops, kStopped };
std::atomic<uint32_t> g_state{kNone};
void (*g_write)() noexcept = nullptr;

void* run(void*) {
  pthread_setname_np(pthread_self(), "weft-trace");
  // The files that it opens are none of the program's, which may count on its own numbers.
  if (unshare(CLONE_FILES) == 0) syscall(SYS_close_range, 0u, ~0u, 0u);
  const int64_t began = platform::now_ns();
  int64_t pause = kFirst;
  for (;;) {
    const int64_t next = platform::now_ns() + pause;
    int64_t left = pause;
    // Relaxed, here and below: the state says nothing of other memory but where an order stands.
    while (left > 0 && g_state.load(std::memory_order_relaxed) == kRuns) {
      platform::futex_wait_for(g_state, kRuns, left);
      left = next - platform::now_ns();
    }
    if (g_state.load(std::memory_order_relaxed) != kRuns) break;
    const int64_t before = platform::now_ns();
    g_write();
    const int64_t now = platform::now_ns();
    pause = std::max({kFirst, now - began, kPartOfTime * (now - before)});
  }
  // Release pairs with the acquire of the thread that waits: this one writes no more.
  g_state.store(kStopped, std::memory_order_release);
  platform::futex_wake(g_state, 1);
  return nullptr;
}

}  // namespace

void start_writing_so_far(void (*write)() noexcept) noexcept {
  g_write = write;
  g_state.store(kRuns, std::memory_order_relaxed);
  constexpr size_t kStack = 256 << 10;
  if (!platform::start_service_thread(run, nullptr, kStack)) g_state.store(kNone, std::memory_order_relaxed);
}

bool stop_writing_so_far() noexcept {
  uint32_t runs = kRuns;
  if (!g_state.compare_exchange_strong(runs, kStops, std::memory_order_relaxed)) return runs != kStops;
  platform::futex_wake(g_state, 1);
  // Not for ever: a program may have called exit() in a signal handler, with a lock of libc that the thread needs.
  constexpr int64_t kPatience = 5'000'000'000;
  const int64_t deadline = platform::now_ns() + kPatience;
  while (g_state.load(std::memory_order_acquire) != kStopped) {
    const int64_t left = deadline - platform::now_ns();
    if (left <= 0) return false;
    platform::futex_wait_for(g_state, kStops, left);
  }
  return true;
}

}  // namespace weft::observe::trace
