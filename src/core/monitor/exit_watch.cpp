// SPDX-License-Identifier: Apache-2.0
// A program whose main ends by pthread_exit goes on until its last thread ends. Threads of the pool stay, so then
// somebody has to notice that no others are left.
#include <atomic>
#include <cstdlib>
#include <mutex>

#include <dirent.h>
#include <unistd.h>

#include "core/monitor/exit_watch.h"
#include "core/sched/pool.h"
#include "platform/generation.h"
#include "platform/service_thread.h"
#include "platform/thread_state.h"

namespace weft::core {

namespace {

// How many service threads tools have, and in which process: the child of a fork has none of them. Relaxed: they are
// read every few milliseconds.
std::atomic<int> g_other_service_threads{0};
std::atomic<uint32_t> g_others_generation{0};

int other_service_threads() noexcept {
  if (g_others_generation.load(std::memory_order_relaxed) != platform::generation()) return 0;
  return g_other_service_threads.load(std::memory_order_relaxed);
}

constexpr useconds_t kPauseUs = 10'000;
constexpr size_t kHandlersStackSize = 8u << 20;  // exit handlers of the program run on it

// How many threads of the process are weft's, without those that have been told to end, and how many have been told so.
struct Own {
  int threads;
  size_t withdrawn;
  bool operator==(const Own&) const = default;
};

Own own_threads() noexcept {
  Pool& p = pool();
  const std::lock_guard lock(p.lock);
  constexpr int kMonitorAndCaller = 2;
  const int donors = static_cast<int>(p.contexts.threads());
  const int workers = p.worker_count.load(std::memory_order_acquire);
  return {donors + workers + kMonitorAndCaller + other_service_threads(), p.contexts.withdrawn()};
}

// How many threads the process has; the initial one counts even when it has ended. 0 without /proc.
int all_threads() noexcept {
  DIR* threads = opendir("/proc/self/task");
  if (threads == nullptr) return 0;
  int count = 0;
  while (const dirent* entry = readdir(threads)) count += entry->d_name[0] != '.' ? 1 : 0;
  closedir(threads);
  return count;
}

void* watch(void*) {
  for (;;) {
    usleep(kPauseUs);
    const platform::ThreadState initial = platform::thread_state(getpid());
    if (initial == platform::ThreadState::unknown) return nullptr;
    if (initial != platform::ThreadState::ended) continue;
    // Weft's own threads are counted first: one that is made between the counts is taken for the program's, which does
    // no harm. One that is told to end between them would hide a thread of the program's, so neither number may
    // change.
    const Own own = own_threads();
    const int all = all_threads();
    if (own_threads() == own && all == own.threads + 1) std::exit(0);
  }
}

}  // namespace

void set_other_service_threads(int threads) noexcept {
  g_other_service_threads.store(threads, std::memory_order_relaxed);
  g_others_generation.store(platform::generation(), std::memory_order_relaxed);
}

void end_after_last_thread() noexcept {
  // Once a process: a thread that opens regions while it ends leaves several times. Relaxed: one thread calls this.
  static std::atomic<uint32_t> watched{0};
  const uint32_t now = platform::generation();
  if (watched.exchange(now, std::memory_order_relaxed) == now) return;
  // Where the thread cannot be made, the process stays, as it does under other runtimes.
  platform::start_service_thread(watch, nullptr, kHandlersStackSize);
}

}  // namespace weft::core
