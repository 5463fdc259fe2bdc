// SPDX-License-Identifier: Apache-2.0
#include "numa/collector/collector.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/message.h"
#include "base/quiet_options.h"
#include "numa/collector/arrays.h"
#include "numa/collector/buffers.h"
#include "numa/collector/guard.h"
#include "numa/collector/sampler.h"
#include "platform/system_call.h"

namespace weft::numa {

namespace {

using platform::system_call;

constexpr int64_t kMillisecond = 1'000'000;

enum : int { kNotStarted, kStarting, kStarted };
std::atomic<int> g_state{kNotStarted};
std::atomic<Record*> g_record{nullptr};
int32_t g_process = 0;
char g_file[4096];  // the record's name

int32_t process_number() noexcept { return static_cast<int32_t>(system_call(SYS_getpid)); }

bool read_settings(const char* folder, Settings& settings) noexcept {
  char path[4096];
  std::snprintf(path, sizeof path, "%s/%s", folder, kSettingsFile);
  const int file = static_cast<int>(system_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0));
  if (file < 0) return false;
  const long got = system_call(SYS_read, file, &settings, sizeof settings);
  system_call(SYS_close, file);
  return got == static_cast<long>(sizeof settings) && settings.magic == kMagic && settings.layout == kLayout;
}

// Whether the process may write files of that size: one that is larger would end it (SIGXFSZ).
bool may_write_files() noexcept {
  constexpr rlim_t kEnough = 64 << 20;
  rlimit limit{};
  return system_call(SYS_prlimit64, 0, RLIMIT_FSIZE, nullptr, &limit) != 0 || limit.rlim_cur >= kEnough;
}

// The room is taken before anything is written: on a full disk a write to the mapping would end the program.
Record* map_record(const char* folder) noexcept {
  char* const path = g_file;
  std::snprintf(path, sizeof g_file, "%s/%d.%lld", folder, g_process, static_cast<long long>(now_ns()));
  const int file =
      static_cast<int>(system_call(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file < 0) {
    base::warn("numa: %s: %s; nothing is collected in process %d", path, std::strerror(-file), g_process);
    return nullptr;
  }
  long result = system_call(SYS_fallocate, file, 0, 0L, sizeof(Record));
  if (result == 0)
    result = system_call(SYS_mmap, nullptr, sizeof(Record), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0L);
  system_call(SYS_close, file);
  if (result > 0) return reinterpret_cast<Record*>(result);
  system_call(SYS_unlinkat, AT_FDCWD, path, 0);
  base::warn("numa: %s: %s; nothing is collected in process %d", folder, std::strerror(static_cast<int>(-result)),
             g_process);
  return nullptr;
}

void make_record() noexcept {
  const char* folder = base::quiet_options().numa_record.value;
  Settings settings;
  if (folder == nullptr || !read_settings(folder, settings)) return;
  g_process = process_number();
  if (!may_write_files()) {
    base::warn("numa: the limit for files (ulimit -f) leaves no room: nothing is collected in process %d", g_process);
    return;
  }
  prepare_sampler(settings);
  Record* made = map_record(folder);
  if (made == nullptr) return;
  Header& header = made->header;
  header.magic = kMagic;
  header.layout = kLayout;
  header.pid = g_process;
  header.page_size = static_cast<uint32_t>(sysconf(_SC_PAGESIZE));
  header.began = now_ns();
  header.touching = settings.touching;
  header.least_size = settings.least_size;
  if (settings.touching == Touching::off) header.stop.store(Stop::asked);
  // Release: whoever sees it, here or in another process, sees what stands above.
  header.ready.store(1, std::memory_order_release);
  g_record.store(made, std::memory_order_release);
  set_least_size(settings.least_size);
}

}  // namespace

Record* record() noexcept { return g_record.load(std::memory_order_acquire); }

bool is_own_process() noexcept { return process_number() == g_process; }

namespace {

int64_t in_ns(const timespec& time) noexcept { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

}  // namespace

int64_t now_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return in_ns(time);
}

int64_t used_ns() noexcept {
  timespec time{};
  system_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time);
  return in_ns(time);
}

int32_t thread_number() noexcept { return static_cast<int32_t>(system_call(SYS_gettid)); }

void start() noexcept {
  int expected = kNotStarted;
  if (!g_state.compare_exchange_strong(expected, kStarting)) return;
  make_record();
  if (record() == nullptr) {
    set_least_size(SIZE_MAX);
  } else {
    guard_start();
  }
  g_state.store(kStarted);
}

// A part of the time since the start, and as much as a short program may take. On a machine that is so slow, or so
// busy, that this is nothing, at least a few touches are seen.
bool may_spend() noexcept {
  constexpr uint32_t kLeastTouches = 256;
  constexpr int64_t kAtFirst = 50 * kMillisecond;
  constexpr int64_t kPart = 40;
  const Header& header = record()->header;
  return header.spent.load(std::memory_order_relaxed) < kAtFirst + (now_ns() - header.began) / kPart ||
         header.touches.load(std::memory_order_relaxed) < kLeastTouches;
}

// Relaxed: a sum, on which no data depends.
void spend(int64_t ns) noexcept { record()->header.spent.fetch_add(ns, std::memory_order_relaxed); }

void forget_record() noexcept {
  set_least_size(SIZE_MAX);
  guard_forget();
  g_record.store(nullptr);
}

namespace {

void copy_of_proc(const char* name) noexcept {
  char path[sizeof g_file + 16];
  std::snprintf(path, sizeof path, "/proc/self/%s", name);
  const int from = static_cast<int>(system_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0));
  std::snprintf(path, sizeof path, "%s.%s", g_file, name);
  const int to =
      static_cast<int>(system_call(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  char piece[4096];
  while (from >= 0 && to >= 0) {
    const long got = system_call(SYS_read, from, piece, sizeof piece);
    if (got <= 0 || system_call(SYS_write, to, piece, got) != got) break;
  }
  if (from >= 0) system_call(SYS_close, from);
  if (to >= 0) system_call(SYS_close, to);
}

}  // namespace

void look_back() noexcept {
  Record* all = record();
  if (all == nullptr || !is_own_process()) return;
  if (all->header.arrays.load(std::memory_order_relaxed) > 0) {
    look_at_all();
    copy_of_proc("maps");
    copy_of_proc("numa_maps");
  }
  all->header.ended.store(now_ns());
}

namespace {

[[gnu::constructor]] void on_load() {
  start();
  if (record() == nullptr) return;
  look_up_calls();
  pthread_atfork([] { guard_before_fork(); }, [] { guard_after_fork(); }, [] { forget_record(); });
}

[[gnu::destructor]] void on_unload() {
  guard_stop(Stop::none);
  look_back();
}

}  // namespace

}  // namespace weft::numa
