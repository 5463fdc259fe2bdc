// SPDX-License-Identifier: Apache-2.0
#include "numa/collector/collector.h"

#include <algorithm>
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
#include "numa/collector/protection.h"
#include "numa/collector/real.h"
#include "platform/system_call.h"

namespace weft::numa {

namespace {

using platform::system_call;

constexpr int64_t kMillisecond = 1'000'000;

enum : int { kNotStarted, kStarting, kStarted };
std::atomic<int> g_state{kNotStarted};
std::atomic<Record*> g_record{nullptr};
int32_t g_process = 0;
bool g_of_command = false;  // the command has started this process itself
// Names and buffers are static: handlers on small stacks may end the program.
char g_file[4096];  // the record's name
char g_file_of_maps[sizeof g_file + 16];
char g_file_of_numa_maps[sizeof g_file + 16];

constinit Real<int(clockid_t, timespec*)> g_clock{"clock_gettime"};

int32_t process_number() noexcept { return static_cast<int32_t>(system_call(SYS_getpid)); }

bool read_settings(const char* folder, Settings& settings) noexcept {
  std::snprintf(g_file, sizeof g_file, "%s/%s", folder, kSettingsFile);
  const int file = static_cast<int>(system_call(SYS_openat, AT_FDCWD, g_file, O_RDONLY | O_CLOEXEC, 0));
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

// Since Linux 5.14. It fails where a write would end the program.
constexpr int kPopulateWrite = 23;
bool g_has_all_room = false;

long take_room(const void* begin, size_t bytes) noexcept {
  constexpr uintptr_t kPage = 4096;
  const auto first = reinterpret_cast<uintptr_t>(begin) & ~(kPage - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(begin) + bytes + kPage - 1) & ~(kPage - 1);
  return system_call(SYS_madvise, first, end - first, kPopulateWrite);
}

// Without a file: the program's files have the lowest numbers that are free, and it may close any.
template <class Entry>
bool has_room(Entry* entries, uint32_t most, uint32_t step, std::atomic<uint32_t>& taken, uint32_t count) noexcept {
  if (count > most) return false;
  while (taken.load(std::memory_order_relaxed) < count) {
    const uint32_t before = taken.load(std::memory_order_relaxed);
    const uint32_t after = std::min(most, before + step);
    if (!g_has_all_room && take_room(entries + before, (after - before) * sizeof(Entry)) != 0) {
      record()->header.full.store(1);
      return false;
    }
    // Release: a thread that writes to an entry by this number finds its room.
    taken.store(after, std::memory_order_release);
  }
  return true;
}

constinit std::atomic<uint32_t> g_sites_with_room{0};
constinit std::atomic<uint32_t> g_arrays_with_room{0};

// A file of full length that takes up a page as yet. Where the kernel cannot take room by steps it has all.
Record* map_record(const char* folder) noexcept {
  std::snprintf(g_file, sizeof g_file, "%s/%d.%lld", folder, g_process, static_cast<long long>(now_ns()));
  std::snprintf(g_file_of_maps, sizeof g_file_of_maps, "%s.maps", g_file);
  std::snprintf(g_file_of_numa_maps, sizeof g_file_of_numa_maps, "%s.numa_maps", g_file);
  const int file =
      static_cast<int>(system_call(SYS_openat, AT_FDCWD, g_file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file < 0) {
    base::warn("numa: %s: %s; nothing is collected in process %d", g_file, std::strerror(-file), g_process);
    return nullptr;
  }
  long result = system_call(SYS_ftruncate, file, sizeof(Record));
  if (result == 0)
    result = system_call(SYS_mmap, nullptr, sizeof(Record), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0L);
  long error = std::min(result, 0L);
  if (error == 0) {
    error = take_room(reinterpret_cast<const void*>(result), sizeof(Header));
    if (error == -EINVAL) {
      error = system_call(SYS_fallocate, file, 0, 0L, sizeof(Record));
      g_has_all_room = error == 0;
    }
    if (error != 0) system_call(SYS_munmap, result, sizeof(Record));
  }
  system_call(SYS_close, file);
  // The command finds a file that nobody could fill, and says so.
  return error == 0 ? reinterpret_cast<Record*>(result) : nullptr;
}

void make_record() noexcept {
  const char* folder = base::quiet_options().numa_record.value;
  Settings settings;
  if (folder == nullptr || !read_settings(folder, settings)) return;
  g_process = process_number();
  g_of_command = system_call(SYS_getppid) == settings.command;
  if (!may_write_files()) {
    base::warn("numa: the limit for files (ulimit -f) leaves no room: nothing is collected in process %d", g_process);
    return;
  }
  protection::prepare(settings);
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
  // Release: a thread that sees it, here or in another process, sees what stands above.
  header.ready.store(1, std::memory_order_release);
  g_record.store(made, std::memory_order_release);
  set_least_size(settings.least_size);
}

}  // namespace

Record* record() noexcept { return g_record.load(std::memory_order_acquire); }

bool is_own_process() noexcept { return process_number() == g_process; }

bool has_site_room(uint32_t count) noexcept { return has_room(record()->site, kSites, 64, g_sites_with_room, count); }

bool has_array_room(uint32_t count) noexcept {
  return has_room(record()->array, kArrays, 16, g_arrays_with_room, count);
}

bool has_touch_room(uint32_t count) noexcept {
  return has_room(record()->touch, kTouches, 4096, record()->header.touch_room, std::min(count, kTouches));
}

int64_t now_ns() noexcept {
  timespec time{};
  g_clock.get()(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

int32_t thread_number() noexcept { return static_cast<int32_t>(system_call(SYS_gettid)); }

void start() noexcept {
  int expected = kNotStarted;
  if (!g_state.compare_exchange_strong(expected, kStarting)) return;
  make_record();
  if (record() == nullptr) {
    set_least_size(SIZE_MAX);
  } else {
    protection::start();
  }
  g_state.store(kStarted);
}

namespace {

// As much as a short program may take.
constexpr int64_t kAtFirst = 50 * kMillisecond;
constexpr int64_t kPart = 40;

bool is_spent(int64_t halves) noexcept {
  const Record* all = record();
  if (all == nullptr) return true;
  const Header& header = all->header;
  return header.spent.load(std::memory_order_relaxed) >= (kAtFirst + (now_ns() - header.began) / kPart) * halves / 2;
}

}  // namespace

bool may_spend(Budget budget) noexcept { return !is_spent(static_cast<int64_t>(budget)); }

// Relaxed: a sum, on which no data depends. The record may have been taken away meanwhile.
void spend(int64_t ns) noexcept {
  if (Record* all = record(); all != nullptr) all->header.spent.fetch_add(ns, std::memory_order_relaxed);
}

void forget_record() noexcept {
  set_least_size(SIZE_MAX);
  protection::forget();
  g_record.store(nullptr);
}

namespace {

// One thread at a time, which is waited for: another may end the program as well.
class LookingBack {
 public:
  LookingBack() noexcept {
    constexpr int kTries = 200;
    for (int tries = 0; !(owns_ = !g_busy.exchange(true)) && tries < kTries; ++tries) {
      const timespec time{0, 100'000};
      system_call(SYS_nanosleep, &time, nullptr);
    }
  }
  ~LookingBack() {
    if (owns_) g_busy.store(false);
  }
  LookingBack(const LookingBack&) = delete;
  LookingBack& operator=(const LookingBack&) = delete;
  // False: the thread that looks back is one that the caller has interrupted, perhaps.
  bool owns() const noexcept { return owns_; }

 private:
  static constinit std::atomic<bool> g_busy;
  bool owns_ = false;
};
constinit std::atomic<bool> LookingBack::g_busy{false};

void copy_file(const char* name, const char* copy) noexcept {
  const int from = static_cast<int>(system_call(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC, 0));
  const int to =
      static_cast<int>(system_call(SYS_openat, AT_FDCWD, copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  static char piece[4096];
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
  const LookingBack only;
  if (!only.owns()) return;
  if (all->header.arrays.load(std::memory_order_relaxed) > 0) {
    look_at_all();
    copy_file("/proc/self/maps", g_file_of_maps);
    copy_file("/proc/self/numa_maps", g_file_of_numa_maps);
  }
  all->header.ended.store(now_ns());
}

namespace {

void drop_empty_record() noexcept {
  const Record* all = record();
  if (all == nullptr || g_of_command) return;
  const Header& header = all->header;
  if (header.arrays.load() > 0 || header.lost.load() > 0) return;
  system_call(SYS_unlinkat, AT_FDCWD, g_file, 0);
}

}  // namespace

void seal() noexcept {
  if (record() == nullptr || !is_own_process()) return;
  protection::give_up();
  look_back();
  // Whatever else has ended the sampling is said first.
  std::atomic<Stop>& stop = record()->header.stop;
  if (stop.load() == Stop::none || stop.load() == Stop::asked) stop.store(Stop::sandbox);
  // A thread that holds the lock has a record until it releases the lock.
  lock_arrays();
  forget_record();
  unlock_arrays();
}

void leave() noexcept {
  if (record() == nullptr || !is_own_process()) return;
  protection::stop();
  look_back();
  drop_empty_record();
}

namespace {

[[gnu::constructor]] void on_load() {
  start();
  if (record() == nullptr) return;
  protection::look_up();
  pthread_atfork(nullptr, nullptr, [] { forget_record(); });
  at_quick_exit([] { leave(); });
}

[[gnu::destructor]] void on_unload() { leave(); }

}  // namespace

}  // namespace weft::numa
