// SPDX-License-Identifier: Apache-2.0
#include "observe/record/profile/sampler.h"

#include <algorithm>
#include <new>

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "observe/record/profile/context_record.h"
#include "platform/cycles.h"
#include "platform/futex.h"
#include "platform/service_thread.h"

namespace weft::observe {

namespace {

// A millisecond between two snapshots costs below one hundredth of a CPU. Short programs get more of them.
constexpr int64_t kPeriod = 1'000'000;
constexpr int64_t kFirstPeriod = 250'000;
constexpr uint64_t kFirst = 1000;
// Where there are so many contexts that a snapshot takes long: at most this part of a CPU.
constexpr int64_t kPartOfCpu = 100;
constexpr int64_t kSettle = 250'000'000;

void add_once(std::vector<int>& numbers, int number) {
  constexpr size_t kMost = 4096;  // of a program that starts threads for ever
  if (numbers.size() < kMost && std::find(numbers.begin(), numbers.end(), number) == numbers.end())
    numbers.push_back(number);
}

}  // namespace

Sampler::Sampler(int cpus, int64_t began)
    : cpus_(cpus), began_(began), blame_(g_nodes, ledger_, cpus), blocked_(ledger_), timeline_(cpus) {}

bool Sampler::start(void (*look_around)(void* argument) noexcept, void* argument) {
  look_around_ = look_around;
  look_around_argument_ = argument;
  last_ = platform::now_ns();
  settled_ = last_;
  note_start();
  constexpr size_t kStack = 256 << 10;
  return platform::start_service_thread(
      [](void* self) -> void* {
        static_cast<Sampler*>(self)->run();
        return nullptr;
      },
      this, kStack);
}

bool Sampler::stop() noexcept {
  // Relaxed: the sampler takes nothing from the caller with it.
  uint32_t runs = kRuns;
  state_.compare_exchange_strong(runs, kStops, std::memory_order_relaxed);
  platform::futex_wake(state_, 1);
  // Not for ever: a program may have called exit() in a signal handler, with a lock of libc that the sampler needs.
  constexpr int64_t kPatience = 5'000'000'000;
  const int64_t deadline = platform::now_ns() + kPatience;
  // Acquire pairs with the release at the end of run(): all that it has written is visible.
  while (state_.load(std::memory_order_acquire) != kStopped) {
    const int64_t left = deadline - platform::now_ns();
    if (left <= 0) return false;
    platform::futex_wait_for(state_, kStops, left);
  }
  return !out_of_memory_;
}

void Sampler::note_start() {
  const ConstructId before = g_nodes.child(0, Kind::serial, nullptr);
  const auto passed = static_cast<double>(std::max<int64_t>(0, last_ - began_));
  blame_.take_start(before, passed, std::min(passed, static_cast<double>(platform::cpu_time_ns())));
}

// Moments drawn at random, one in each period: a program that does something each millisecond is not met at the same
// place again and again.
int64_t Sampler::pause_before_next(int64_t cost) noexcept {
  mean_cost_ = mean_cost_ == 0 ? cost : (7 * mean_cost_ + cost) / 8;
  const int64_t period = std::max(snapshots_ < kFirst ? kFirstPeriod : kPeriod, kPartOfCpu * mean_cost_);
  const int64_t into_next = std::uniform_int_distribution<int64_t>(0, period - 1)(random_);
  const int64_t pause = left_of_stratum_ + into_next;
  left_of_stratum_ = period - into_next;
  return std::max<int64_t>(pause, 10'000);
}

void Sampler::look() {
  const int64_t now = platform::now_ns();
  const auto passed = static_cast<double>(now - last_);
  last_ = now;
  seen_.clear();
  threads_seen_.clear();
  bool is_unseen = false;
  for (const ContextRecord* record = g_records.load(std::memory_order_acquire); record != nullptr;
       record = record->next) {
    Shown shown = record->shown();
    if (shown.state == State::out) continue;
    if (shown.state == State::unseen) {
      // All that is known is that its primary is there, or waits for others that work.
      shown.state = State::work;
      shown.left = false;
      is_unseen = true;
    }
    seen_.push_back(shown);
    if (shown.left) continue;
    threads_seen_.push_back(record->thread());
  }
  if (is_unseen) unseen_ += passed;
  const double each = blame_.take(seen_, passed);
  auto thread = threads_seen_.begin();
  for (const Shown& shown : seen_) {
    if (shown.left) continue;
    add_once(shown.root ? roots_ : carriers_, *thread);
    if (shown.state == State::work || shown.state == State::unwatched_chunks) blocked_.note(*thread, shown.node, each);
    ++thread;
  }
  timeline_.take(seen_, now - began_);
  ++snapshots_;
}

// What takes longer, and is done more seldom.
void Sampler::look_around() {
  const int64_t now = platform::now_ns();
  if (now - settled_ < kSettle) return;
  settled_ = now;
  blocked_.settle();
  threads_.look();
  if (now >= next_memory_) look_at_memory(now);
  if (look_around_ != nullptr) look_around_(look_around_argument_);
}

void Sampler::sum_up() {
  blocked_.settle();
  used_by_others_ = others_.used_of(static_cast<int64_t>(cpus_) * (last_ - began_));
  if (next_memory_ == 0) look_at_memory(last_);
  threads_.look();
}

// The larger a process is, the longer it takes the kernel to say where its memory lies: more and more seldom. What
// counts is the look at which there was most.
void Sampler::look_at_memory(int64_t now) {
  const MemorySpread seen = memory_spread();
  if (seen.bytes >= memory_.bytes) memory_ = seen;
  const int64_t took = platform::now_ns() - now;
  next_memory_ = now + std::max((now - began_) / 4, kPartOfCpu * took);
}

void Sampler::run() noexcept {
  pthread_setname_np(pthread_self(), "weft-profile");
  // The files that it opens are none of the program's, which may count on its own numbers.
  if (unshare(CLONE_FILES) == 0) syscall(SYS_close_range, 0u, ~0u, 0u);
  try {
    watch();
  } catch (const std::bad_alloc&) {
    out_of_memory_ = true;
  }
  state_.store(kStopped, std::memory_order_release);
  platform::futex_wake(state_, 1);
}

void Sampler::watch() {
  int64_t cost = 0;
  while (state_.load(std::memory_order_relaxed) == kRuns) {
    platform::futex_wait_for(state_, kRuns, pause_before_next(cost));
    if (state_.load(std::memory_order_relaxed) != kRuns) break;
    const int64_t began = platform::now_ns();
    look();
    cost = platform::now_ns() - began;
    look_around();
  }
  look();
  sum_up();
}

}  // namespace weft::observe
