// SPDX-License-Identifier: Apache-2.0
// What this machine's memory and kernel cost, measured without any OpenMP: the numbers of a file of presets/.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

double now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

void bind(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

// The median of runs of `body`, for one of its `count` steps.
double step_ns(int count, const std::function<void()>& body) {
  constexpr int kRuns = 15;
  std::vector<double> times;
  for (int i = 0; i < kRuns; ++i) {
    const double began = now_ns();
    body();
    times.push_back((now_ns() - began) / count);
  }
  std::sort(times.begin(), times.end());
  return times[kRuns / 2];
}

struct alignas(64) Word {
  std::atomic<uint32_t> value{0};
};

// Two threads on CPUs 0 and 1 take turns: each writes a line of its own, and looks at the other's until it is its turn.
// In a turn a line goes over twice, to the writer alone and to the reader.
double transfer_ns() {
  constexpr int kTurns = 400'000;  // the start of a thread takes as long as some thousands
  constexpr int kTransfers = 2 * kTurns;
  return step_ns(kTransfers, [] {
    std::array<Word, 2> words;
    const auto play = [&words](uint32_t mine) {
      bind(static_cast<int>(mine));
      for (uint32_t turn = mine; turn < kTurns; turn += 2) {
        // As runtimes wait: without the pause the looks themselves would hold the line up.
        while (words[1 - mine].value.load(std::memory_order_acquire) != turn) __builtin_ia32_pause();
        words[mine].value.store(turn + 1, std::memory_order_release);
      }
    };
    std::thread other(play, 1);
    play(0);
    other.join();
  });
}

double update_ns() {
  constexpr int kSteps = 1'000'000;
  Word word;
  return step_ns(kSteps, [&word] {
    for (int i = 0; i < kSteps; ++i) word.value.fetch_add(1);
  });
}

double pause_ns() {
  constexpr int kSteps = 100'000;
  return step_ns(kSteps, [] {
    for (int i = 0; i < kSteps; ++i) __builtin_ia32_pause();
  });
}

double clock_ns() {
  constexpr int kSteps = 100'000;
  return step_ns(kSteps, [] {
    for (int i = 0; i < kSteps; ++i) now_ns();
  });
}

double system_call_ns() {
  constexpr int kSteps = 100'000;
  return step_ns(kSteps, [] {
    for (int i = 0; i < kSteps; ++i) syscall(SYS_getppid);
  });
}

// One thread sleeps on a futex; the time of the call that wakes it, and that until it runs on its idle CPU.
std::array<double, 2> wake_ns() {
  constexpr int kWakes = 100;
  std::vector<double> calls;
  std::vector<double> latencies;
  Word word;
  std::atomic<double> called{0};
  std::thread sleeper([&] {
    bind(1);
    for (uint32_t i = 0; i < kWakes; ++i) {
      while (word.value.load() == i) syscall(SYS_futex, &word.value, FUTEX_WAIT_PRIVATE, i, nullptr, nullptr, 0);
      latencies.push_back(now_ns() - called.load());
    }
  });
  bind(0);
  for (uint32_t i = 0; i < kWakes; ++i) {
    usleep(20'000);  // the CPU has gone to sleep by now
    called.store(now_ns());
    word.value.store(i + 1);
    const double began = now_ns();
    syscall(SYS_futex, &word.value, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    calls.push_back(now_ns() - began);
  }
  sleeper.join();
  std::sort(calls.begin(), calls.end());
  std::sort(latencies.begin(), latencies.end());
  return {calls[kWakes / 2], latencies[kWakes / 2]};
}

double create_thread_ns() {
  constexpr int kThreads = 50;
  std::vector<std::thread> threads;
  const double time = step_ns(kThreads, [&threads] {
    for (int i = 0; i < kThreads; ++i) threads.emplace_back([] {});
  });
  for (std::thread& thread : threads) thread.join();
  return time;
}

}  // namespace

int main() {
  bind(0);
  const std::array<double, 2> wake = wake_ns();
  std::printf(
      "\"same_core\": %.1f, \"update\": %.1f, \"pause\": %.1f, \"clock\": %.1f, \"system_call\": %.0f, \"wake\": %.0f, "
      "\"wake_latency\": %.0f, \"create_thread\": %.0f\n",
      transfer_ns(), update_ns(), pause_ns(), clock_ns(), system_call_ns(), wake[0], wake[1], create_thread_ns());
  return 0;
}
