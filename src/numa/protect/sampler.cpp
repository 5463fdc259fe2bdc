// SPDX-License-Identifier: Apache-2.0
#include "numa/protect/sampler.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include "numa/collector/allocate.h"
#include "numa/collector/arrays.h"
#include "numa/collector/collector.h"
#include "numa/collector/real.h"
#include "numa/protect/guard.h"
#include "numa/protect/guarded.h"
#include "numa/protect/signals.h"
#include "platform/system_call.h"

namespace weft::numa {

namespace {

using platform::system_call;

constexpr int64_t kMillisecond = 1'000'000;
// Between two rounds, and how long pages stay protected at most.
constexpr int64_t kShortestRound = 20 * kMillisecond;
constexpr int64_t kLongestGuard = 100 * kMillisecond;
constexpr int kPagesOfARound = 256;
constexpr int kMostPages = 64;  // of an array
constexpr int kLeastPages = 4;

constinit Real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> g_pthread_create{"pthread_create"};
constinit Real<int(pthread_t, void**)> g_pthread_join{"pthread_join"};

enum : int { kNone, kStarting, kRunning, kNeverAgain };
constinit std::atomic<int> g_thread_state{kNone};
pthread_t g_thread;
constinit std::atomic<uint32_t> g_over{0};  // 1: the thread is to end

uint64_t random_number() noexcept {
  static uint64_t state = 0x2545F4914F6CDD1D;  // the lock of the arrays is held
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

// Time that the calling thread has used: where others compete for the CPU, less than has passed.
int64_t used_ns() noexcept {
  timespec time{};
  system_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1000 * kMillisecond + time.tv_nsec;
}

// Or until the thread is to end.
void sleep_for(int64_t ns) noexcept {
  const timespec time{static_cast<time_t>(ns / (1000 * kMillisecond)), static_cast<long>(ns % (1000 * kMillisecond))};
  system_call(SYS_futex, &g_over, FUTEX_WAIT_PRIVATE, 0, &time);
}

// Libraries with which other processes, devices or the kernel reach into memory without a call of the C library.
bool reaches_into_memory(const char* path) noexcept {
  static constexpr const char* kNames[] = {"libmpi.so",     "libmpich.so",  "libpmpi.so",     "libmpi_",
                                           "libibverbs.so", "libucp.so",    "libuct.so",      "libfabric.so",
                                           "libcuda.so",    "libcudart.so", "libamdhip64.so", "libze_loader.so",
                                           "liburing.so",   "libaio.so",    "libuv.so",       "librte_eal.so"};
  const char* slash = std::strrchr(path, '/');
  const char* name = slash != nullptr ? slash + 1 : path;
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](const char* known) { return std::strncmp(name, known, std::strlen(known)) == 0; });
}

bool has_peers() noexcept {
  const auto look = [](dl_phdr_info* info, size_t, void*) { return reaches_into_memory(info->dlpi_name) ? 1 : 0; };
  return dl_iterate_phdr(look, nullptr) != 0;
}

// Go's programs make their system calls themselves, also where they are linked with the C library.
bool is_go() noexcept {
  const auto look = [](dl_phdr_info* program, size_t, void*) {
    constexpr char kGo[4] = "Go";
    constexpr size_t kWord = 4;
    const auto rounded = [](size_t size) { return (size + kWord - 1) / kWord * kWord; };
    for (int i = 0; i < program->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = program->dlpi_phdr[i];
      if (segment.p_type != PT_NOTE) continue;
      const char* at = reinterpret_cast<const char*>(program->dlpi_addr + segment.p_vaddr);
      const char* const end = at + segment.p_memsz;
      while (static_cast<size_t>(end - at) >= sizeof(ElfW(Nhdr)) + sizeof kGo) {
        ElfW(Nhdr) note;
        std::memcpy(&note, at, sizeof note);
        if (note.n_namesz == sizeof kGo && std::memcmp(at + sizeof note, kGo, sizeof kGo) == 0) return 1;
        at += std::min(sizeof note + rounded(note.n_namesz) + rounded(note.n_descsz), static_cast<size_t>(end - at));
      }
    }
    return -1;  // what follows are libraries
  };
  return dl_iterate_phdr(look, nullptr) == 1;
}

void guard_arrays() noexcept {
  const int used = used_entries();
  int arrays = 0;
  const auto usable = [](int i) {
    const ArrayGuard& guard = g_guards[i];
    return guard.begin.load(std::memory_order_relaxed) != 0 && !guard.excluded.load() && guard.holds.load() == 0;
  };
  for (int i = 0; i < used; ++i) arrays += usable(i) ? 1 : 0;
  if (arrays == 0) return;
  const int share = std::clamp(kPagesOfARound / arrays, kLeastPages, kMostPages);
  // Where there are more arrays than pages, others have their turn in each round.
  static int turn = 0;
  int left = kPagesOfARound;
  for (int i = 0; i < used && left > 0; ++i) {
    turn = (turn + 1) % used;
    if (!usable(turn)) continue;
    guard_some(turn, std::min(share, left), false);
    left -= share;
  }
}

// Whether there is to be a round now: if what has been spent allows it, and in any case some, evenly over the time on a
// logarithmic scale. What is used now may not be what was used before.
bool is_due(int64_t last, int64_t elapsed) noexcept {
  constexpr int64_t kRarest = 12;
  return may_sample() || elapsed - last > elapsed / kRarest;
}

// The CPUs that the process may use: the thread that has made this one may be bound to one of them.
constinit uint64_t g_cpus[16] = {};

void* sample(void*) {
  system_call(SYS_sched_setaffinity, 0, sizeof g_cpus, g_cpus);
  int64_t last = 0;
  prctl(PR_SET_NAME, "weft-numa");
  Record* const all = record();
  if (all == nullptr) return nullptr;
  all->header.sampler = thread_number();
  for (;;) {
    const int64_t elapsed = now_ns() - all->header.began;
    // Ever more seldom: the touches of a long run must not need more room than those of a short one.
    const int64_t round = std::max(kShortestRound, elapsed / 25);
    const int64_t guarded = std::min(round, kLongestGuard);
    int64_t used = used_ns();
    if (const Stop why = reason_not_to_sample(); why != Stop::none) guard_stop(why);
    if (all->header.touches.load(std::memory_order_relaxed) >= kTouches) guard_stop(Stop::full);
    if (!guard_is_on() || g_over.load() != 0) return nullptr;
    if (is_due(last, elapsed)) {
      last = elapsed;
      if (guard_is_paused()) all->header.paused.fetch_add(1, std::memory_order_relaxed);
      lock_arrays();
      guard_arrays();
      unlock_arrays();
      all->header.rounds.fetch_add(1, std::memory_order_relaxed);
    }
    spend(used_ns() - used);
    sleep_for(guarded);
    used = used_ns();
    lock_arrays();
    unguard_untouched();
    unlock_arrays();
    spend(used_ns() - used);
    sleep_for(round - guarded);
  }
}

}  // namespace

// Not the pages at the edges, where other blocks may begin.
void guard_some(int index, int most, bool first) noexcept {
  // A thread that touches a page has room to say so.
  const Record* all = record();
  constexpr uint32_t kAtOnce = 2048;
  if (all == nullptr || !has_touch_room(all->header.touches.load(std::memory_order_relaxed) + kAtOnce)) return;
  const ArrayGuard& guard = g_guards[index];
  const size_t unit = guard_unit(index);
  const uintptr_t begin = (guard.begin.load() + unit - 1) / unit * unit;
  const uintptr_t end = guard.end.load() / unit * unit;
  if (end <= begin) return;
  const size_t units = (end - begin) / unit;
  // With pages between them, so that each is a mapping of its own.
  const size_t part = unit == record()->header.page_size ? 4 : 2;
  const size_t count = std::min(static_cast<size_t>(std::max(most, 0)), units / part);
  for (size_t i = 0; i < count; ++i) {
    const size_t from = units * i / count;
    const size_t to = units * (i + 1) / count;
    const size_t chosen = from + random_number() % (to - from - 1);
    guard_page(index, begin + chosen * unit, unit, first);
  }
}

bool may_sample() noexcept {
  constexpr uint32_t kLeastTouches = 256;
  if (may_spend()) return true;
  const Record* all = record();
  return all != nullptr && all->header.touches.load(std::memory_order_relaxed) < kLeastTouches &&
         may_spend(Budget::several);
}

void prepare_sampler(const Settings& settings) noexcept { std::copy(settings.cpus, settings.cpus + 16, g_cpus); }

void start_sampler() noexcept {
  if (!guard_is_on() || g_thread_state.load(std::memory_order_relaxed) != kNone) return;
  const Record* all = record();
  if (all == nullptr || all->header.touching != Touching::sample) return;
  int none = kNone;
  if (!g_thread_state.compare_exchange_strong(none, kStarting)) return;
  // It handles no signals.
  constexpr uint64_t kAll = ~uint64_t{0};
  uint64_t before = 0;
  system_call(SYS_rt_sigprocmask, SIG_SETMASK, &kAll, &before, sizeof kAll);
  int error = 0;
  {
    const InAllocator not_of_the_program;
    constexpr size_t kStack = 256 << 10;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kStack);
    error = g_pthread_create.get()(&g_thread, &attributes, sample, nullptr);
    pthread_attr_destroy(&attributes);
  }
  system_call(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before);
  g_thread_state.store(error == 0 ? kRunning : kNeverAgain);
  if (error != 0) guard_stop(Stop::no_thread);
}

void stop_sampler(Stop why) noexcept {
  if (record() == nullptr || !is_own_process()) return;
  int state = kNone;
  while (!g_thread_state.compare_exchange_weak(state, kNeverAgain)) {
    if (state == kNeverAgain) return;
    if (state == kStarting) {
      const timespec time{0, 100'000};
      system_call(SYS_nanosleep, &time, nullptr);
      state = kRunning;
    }
  }
  if (state != kRunning) return;
  guard_stop(why);
  g_over.store(1);
  system_call(SYS_futex, &g_over, FUTEX_WAKE_PRIVATE, 1);
  int cancelled = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelled);
  g_pthread_join.get()(g_thread, nullptr);
  pthread_setcancelstate(cancelled, nullptr);
  // The kernel lets go of a thread a moment after it can be joined.
  constexpr int kTries = 1000;
  const Record* all = record();
  const int32_t sampler = all != nullptr ? all->header.sampler : 0;
  const long process = system_call(SYS_getpid);
  for (int i = 0; i < kTries && sampler > 0 && system_call(SYS_tgkill, process, sampler, 0) == 0; ++i) {
    const timespec time{0, 100'000};
    system_call(SYS_nanosleep, &time, nullptr);
  }
}

Stop reason_not_to_sample() noexcept {
  const Record* all = record();
  static const bool is_past_libc = is_go();
  if (is_past_libc) return Stop::past_libc;
  if (has_peers() || (all != nullptr && all->header.peers.load() != 0)) return Stop::peers;
  if (guard_is_on() && !faults_are_ours()) return Stop::foreign_handler;
  return Stop::none;
}

}  // namespace weft::numa
