// SPDX-License-Identifier: Apache-2.0
#include "numa/collector/arrays.h"

#include <algorithm>

#include <time.h>
#include <unwind.h>

#include "base/keep_errno.h"
#include "numa/collector/collector.h"
#include "numa/collector/guard.h"
#include "numa/collector/places.h"
#include "numa/collector/sampler.h"
#include "platform/system_call.h"

namespace weft::numa {

constinit std::atomic<size_t> g_least_size{size_t{1} << 20};
constinit ArrayGuard g_guards[kArrays] = {};

namespace {

// Held for as long as a few pages are protected or looked up. It is no mutex of the C library's, whose calls come by
// here.
class Lock {
 public:
  bool try_lock() noexcept { return !held_.exchange(true, std::memory_order_acquire); }
  void lock() noexcept {
    while (!try_lock()) {
      const timespec time{0, 20'000};
      platform::system_call(SYS_nanosleep, &time, nullptr);
    }
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};
constinit Lock g_lock;
// Entries from 0 to here have been used.
constinit std::atomic<int> g_used{0};
// All arrays that ever were lie between.
constinit std::atomic<uintptr_t> g_low{UINTPTR_MAX};
constinit std::atomic<uintptr_t> g_high{0};

// How many live arrays begin at an address of this hash. Relaxed throughout: who frees a block has got it from who
// allocated it, and with it what is counted here.
constexpr int kFilterBits = 14;
constinit std::atomic<uint8_t> g_filter[1 << kFilterBits] = {};

uint64_t mix(uint64_t value) noexcept { return value * 0x9E3779B97F4A7C15ULL; }

std::atomic<uint8_t>& filter_of(uintptr_t begin) noexcept { return g_filter[mix(begin >> 4) >> (64 - kFilterBits)]; }

struct Callers {
  uint64_t frame[kFrames];
  uint32_t count = 0;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* argument) {
  auto* callers = static_cast<Callers*>(argument);
  const uint64_t address = _Unwind_GetIP(context);
  if (address == 0 || callers->count == kFrames) return _URC_END_OF_STACK;
  callers->frame[callers->count++] = address;
  return _URC_NO_REASON;
}

// The entry of the place that has called; kSites: there is no room. The lock is held.
uint32_t site_of(const Callers& callers, size_t bytes) noexcept {
  uint64_t hash = callers.count;
  for (uint32_t i = 0; i < callers.count; ++i) hash = mix(hash ^ callers.frame[i]) ^ hash >> 31;
  Record& all = *record();
  const uint32_t known = all.header.sites.load(std::memory_order_relaxed);
  uint32_t index = 0;
  while (index < known && all.site[index].hash != hash) ++index;
  if (index == kSites) return kSites;
  Site& site = all.site[index];
  if (index == known) {
    site.hash = hash;
    site.frames = callers.count;
    std::copy_n(callers.frame, callers.count, site.frame);
    // Release: who reads the number reads whole entries.
    all.header.sites.store(known + 1, std::memory_order_release);
  }
  // Relaxed: sums, on which no data depends.
  site.calls.fetch_add(1, std::memory_order_relaxed);
  site.bytes.fetch_add(bytes, std::memory_order_relaxed);
  return index;
}

// An entry for another array: one that was never used, else that of the array that was freed first, by preference one
// of the same place. -1: all are live.
int choose_entry(uint32_t site) noexcept {
  constexpr int kKeptOfASite = 4;
  Record& all = *record();
  const int used = g_used.load(std::memory_order_relaxed);
  int oldest = -1;
  int oldest_here = -1;
  int here = 0;
  const auto older = [&](int i, int than) { return than < 0 || all.array[i].died < all.array[than].died; };
  for (int i = 0; i < used; ++i) {
    const Array& array = all.array[i];
    if (array.state.load(std::memory_order_relaxed) == ArrayState::live) continue;
    if (older(i, oldest)) oldest = i;
    if (array.site != site) continue;
    ++here;
    if (older(i, oldest_here)) oldest_here = i;
  }
  if (here >= kKeptOfASite) return oldest_here;
  if (used < static_cast<int>(kArrays)) {
    g_used.store(used + 1, std::memory_order_release);
    return used;
  }
  return oldest;
}

}  // namespace

void set_least_size(size_t bytes) noexcept { g_least_size.store(bytes, std::memory_order_relaxed); }

int used_entries() noexcept { return g_used.load(std::memory_order_acquire); }

void lock_arrays() noexcept { g_lock.lock(); }
void unlock_arrays() noexcept { g_lock.unlock(); }

[[gnu::noinline]] void add_array(void* begin, size_t bytes, How how) noexcept {
  const base::KeepErrno keep;
  start();
  if (begin == nullptr || record() == nullptr || !is_large(bytes) || !is_own_process()) return;
  // Without the lock: it may take one of the dynamic linker's.
  Callers callers;
  _Unwind_Backtrace(add_frame, &callers);
  // Where no thread samples, nobody else looks.
  if (record()->header.touching == Touching::first && guard_is_on()) {
    if (const Stop why = reason_not_to_sample(); why != Stop::none) guard_stop(why);
  }
  g_lock.lock();
  Record& all = *record();
  const uint32_t site = site_of(callers, bytes);
  const int index = choose_entry(site);
  if (site == kSites || index < 0) {
    all.header.lost.fetch_add(1, std::memory_order_relaxed);
    g_lock.unlock();
    return;
  }
  Array& array = all.array[index];
  array.state.store(ArrayState::none, std::memory_order_release);
  array.begin = reinterpret_cast<uintptr_t>(begin);
  array.bytes = bytes;
  array.born = now_ns();
  array.died = 0;
  array.site = site;
  array.thread = thread_number();
  array.how = how;
  array.placed = 0;
  array.number.store(all.header.arrays.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  // Release: the command sees a live entry whole.
  array.state.store(ArrayState::live, std::memory_order_release);
  ArrayGuard& guard = g_guards[index];
  guard.holds.store(0, std::memory_order_relaxed);
  guard.excluded.store(how == How::mapped, std::memory_order_relaxed);
  guard.huge.store(false, std::memory_order_relaxed);
  guard.was_protected.store(false, std::memory_order_relaxed);
  guard.end.store(array.begin + bytes, std::memory_order_relaxed);
  guard.begin.store(array.begin, std::memory_order_release);
  filter_of(array.begin).fetch_add(1, std::memory_order_relaxed);
  g_low.store(std::min(g_low.load(std::memory_order_relaxed), array.begin), std::memory_order_relaxed);
  g_high.store(std::max(g_high.load(std::memory_order_relaxed), array.begin + bytes), std::memory_order_relaxed);
  guard_new_array(index);
  g_lock.unlock();
  start_sampler();
}

bool may_be_array(const void* pointer) noexcept {
  return filter_of(reinterpret_cast<uintptr_t>(pointer)).load(std::memory_order_relaxed) != 0;
}

void remove_array(const void* pointer) noexcept {
  const auto begin = reinterpret_cast<uintptr_t>(pointer);
  if (record() == nullptr || begin == 0) return;
  const base::KeepErrno keep;
  g_lock.lock();
  int index = used_entries() - 1;
  while (index >= 0 && g_guards[index].begin.load(std::memory_order_relaxed) != begin) --index;
  if (index >= 0 && is_own_process()) {
    guard_old_array(index);
    Array& array = record()->array[index];
    // A look takes less than a millisecond.
    constexpr int64_t kLongLife = 100'000'000;
    array.died = now_ns();
    if (array.died - array.born > kLongLife || may_spend()) look_at(array);
    array.state.store(ArrayState::freed, std::memory_order_release);
    g_guards[index].begin.store(0, std::memory_order_relaxed);
    g_guards[index].end.store(0, std::memory_order_relaxed);
    filter_of(begin).fetch_sub(1, std::memory_order_relaxed);
  }
  g_lock.unlock();
}

int find_array(uintptr_t begin, size_t bytes, int from) noexcept {
  const uintptr_t end = begin + bytes;
  if (end <= g_low.load(std::memory_order_relaxed) || begin >= g_high.load(std::memory_order_relaxed)) return -1;
  const int used = used_entries();
  for (int i = from; i < used; ++i) {
    const ArrayGuard& guard = g_guards[i];
    const uintptr_t first = guard.begin.load(std::memory_order_acquire);
    if (first != 0 && begin < guard.end.load(std::memory_order_relaxed) && end > first) return i;
  }
  return -1;
}

// A handler of signals may end the program while the thread that it has interrupted holds the lock.
void look_at_all() noexcept {
  constexpr int kTries = 100;
  int tries = 0;
  while (!g_lock.try_lock()) {
    if (++tries == kTries) return;
    const timespec time{0, 100'000};
    platform::system_call(SYS_nanosleep, &time, nullptr);
  }
  const int used = used_entries();
  for (int i = 0; i < used; ++i) {
    Array& array = record()->array[i];
    if (array.state.load(std::memory_order_relaxed) == ArrayState::live) look_at(array);
  }
  g_lock.unlock();
}

}  // namespace weft::numa
