// SPDX-License-Identifier: Apache-2.0
#include "numa/collector/arrays.h"

#include <algorithm>

#include <time.h>
#include <unwind.h>

#include "base/keep_errno.h"
#include "numa/collector/collector.h"
#include "numa/collector/places.h"
#include "numa/collector/protection.h"
#include "platform/system_call.h"

namespace weft::numa {

constinit std::atomic<size_t> g_least_size{size_t{1} << 20};

namespace {

// Held for as long as a few pages are protected. It is no mutex of the C library's, whose calls may come by here.
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
// Where the live array of an entry begins; 0: the entry has none. The lock is held.
constinit uintptr_t g_begin_of[kArrays] = {};

// How many live arrays begin at an address of this hash. Relaxed throughout: a thread that frees a block has got it
// from the thread that allocated it, and with it what is counted here.
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

// Entries by a hash, each with the number of the next of the same; numbers are those of entries and 1. The lock is
// held.
template <uint32_t kBuckets, uint32_t kEntries>
class Index {
 public:
  template <class Is>
  int find(uint64_t hash, Is&& is) const noexcept {
    uint16_t number = bucket_[hash % kBuckets];
    while (number != 0 && !is(number - 1)) number = next_[number];
    return number - 1;
  }
  void add(uint64_t hash, int entry) noexcept {
    const auto number = static_cast<uint16_t>(entry + 1);
    next_[number] = bucket_[hash % kBuckets];
    bucket_[hash % kBuckets] = number;
  }
  void remove(uint64_t hash, int entry) noexcept {
    uint16_t* at = &bucket_[hash % kBuckets];
    while (*at != 0 && *at != entry + 1) at = &next_[*at];
    if (*at != 0) *at = next_[*at];
  }

 private:
  uint16_t bucket_[kBuckets] = {};
  uint16_t next_[kEntries + 1] = {};
};

// What the program cannot overwrite by a stray write to the record is kept here.
constinit uint64_t g_hash_of_site[kSites] = {};
constinit uint32_t g_known_sites = 0;
constinit Index<2048, kSites> g_by_callers;
constinit Index<2048, kArrays> g_by_address;
constinit uint16_t g_site_of[kArrays] = {};

// Entries of arrays that were freed, in that order.
struct Links {
  uint16_t older = 0;
  uint16_t newer = 0;
};
class Queue {
 public:
  int oldest() const noexcept { return oldest_ - 1; }
  uint32_t count() const noexcept { return count_; }
  void add(Links* links, int entry) noexcept {
    const auto number = static_cast<uint16_t>(entry + 1);
    links[number] = {newest_, 0};
    (newest_ != 0 ? links[newest_].newer : oldest_) = number;
    newest_ = number;
    ++count_;
  }
  void remove(Links* links, int entry) noexcept {
    const Links& link = links[entry + 1];
    (link.older != 0 ? links[link.older].newer : oldest_) = link.newer;
    (link.newer != 0 ? links[link.newer].older : newest_) = link.older;
    --count_;
  }

 private:
  uint16_t oldest_ = 0;
  uint16_t newest_ = 0;
  uint32_t count_ = 0;
};
constinit Queue g_freed;
constinit Links g_freed_links[kArrays + 1] = {};
constinit Queue g_freed_of[kSites];
constinit Links g_freed_of_links[kArrays + 1] = {};

// The entry of the place that has called; kSites: there is no room. The lock is held.
uint32_t site_of(const Callers& callers, size_t bytes) noexcept {
  uint64_t hash = callers.count;
  for (uint32_t i = 0; i < callers.count; ++i) hash = mix(hash ^ callers.frame[i]) ^ hash >> 31;
  Record& all = *record();
  int index = g_by_callers.find(hash, [&](int i) { return g_hash_of_site[i] == hash; });
  if (index < 0) {
    if (!has_site_room(g_known_sites + 1)) return kSites;
    index = static_cast<int>(g_known_sites++);
    g_hash_of_site[index] = hash;
    g_by_callers.add(hash, index);
    Site& site = all.site[index];
    site.hash = hash;
    site.frames = callers.count;
    std::copy_n(callers.frame, callers.count, site.frame);
    // Release: a reader of the number reads whole entries.
    all.header.sites.store(g_known_sites, std::memory_order_release);
  }
  Site& site = all.site[index];
  // Relaxed: sums, on which no data depends.
  site.calls.fetch_add(1, std::memory_order_relaxed);
  site.bytes.fetch_add(bytes, std::memory_order_relaxed);
  return static_cast<uint32_t>(index);
}

// An entry for another array: one that was never used, else that of the array that was freed first, by preference one
// of the same place. -1: all are live. The lock is held.
int choose_entry(uint32_t site) noexcept {
  constexpr uint32_t kKeptOfASite = 4;
  const int used = g_used.load(std::memory_order_relaxed);
  int entry = -1;
  if (g_freed_of[site].count() >= kKeptOfASite) {
    entry = g_freed_of[site].oldest();
  } else if (has_array_room(static_cast<uint32_t>(used) + 1)) {
    g_used.store(used + 1, std::memory_order_release);
    record()->header.entries.store(static_cast<uint32_t>(used) + 1, std::memory_order_release);
    return used;
  } else {
    entry = g_freed.oldest();
  }
  if (entry < 0) return entry;
  g_freed.remove(g_freed_links, entry);
  g_freed_of[g_site_of[entry]].remove(g_freed_of_links, entry);
  return entry;
}

// Programs with few arrays have all of them in the report, with the places where they lay in the end; others as many as
// there is time for.
bool are_few(const Header& header) noexcept {
  constexpr uint32_t kFew = 256;
  return header.arrays.load(std::memory_order_relaxed) < kFew;
}

// Whether a block is looked at, by its size. The pages of a large block take the kernel longer than its entry takes
// here.
bool has_time_for(const Header& header, size_t bytes) noexcept {
  constexpr size_t kLargeArray = 64 << 20;
  return are_few(header) || may_spend(bytes >= kLargeArray ? Budget::twice : Budget::whole);
}

// The lock is held.
void note_array(uintptr_t begin, size_t bytes, How how, const Callers& callers) noexcept {
  Record& all = *record();
  const uint32_t site = site_of(callers, bytes);
  const int index = site < kSites ? choose_entry(site) : -1;
  if (index < 0) {
    all.header.lost.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  g_site_of[index] = static_cast<uint16_t>(site);
  Array& array = all.array[index];
  array.state.store(ArrayState::none, std::memory_order_release);
  array.begin = begin;
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
  g_begin_of[index] = begin;
  g_by_address.add(mix(begin) >> 32, index);
  filter_of(begin).fetch_add(1, std::memory_order_relaxed);
  protection::add_array(index, begin, bytes, how);
}

}  // namespace

void set_least_size(size_t bytes) noexcept { g_least_size.store(bytes, std::memory_order_relaxed); }

int used_entries() noexcept { return g_used.load(std::memory_order_acquire); }

void lock_arrays() noexcept { g_lock.lock(); }
void unlock_arrays() noexcept { g_lock.unlock(); }

[[gnu::noinline]] void add_array(void* begin, size_t bytes, How how) noexcept {
  const base::KeepErrno keep;
  start();
  Record* const all = record();
  if (begin == nullptr || all == nullptr || !is_large(bytes) || !is_own_process()) return;
  Header& header = all->header;
  if (!has_time_for(header, bytes)) {
    header.left_out.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  {
    const Spending spending;
    // Without the lock: it may take one of the dynamic linker's.
    Callers callers;
    _Unwind_Backtrace(add_frame, &callers);
    protection::before_array(how);
    g_lock.lock();
    if (record() != nullptr) note_array(reinterpret_cast<uintptr_t>(begin), bytes, how, callers);
    g_lock.unlock();
  }
  protection::after_array(how);
}

bool may_be_array(const void* pointer) noexcept {
  return filter_of(reinterpret_cast<uintptr_t>(pointer)).load(std::memory_order_relaxed) != 0;
}

void remove_array(const void* pointer) noexcept {
  const auto begin = reinterpret_cast<uintptr_t>(pointer);
  if (record() == nullptr || begin == 0 || !is_own_process()) return;
  const base::KeepErrno keep;
  const Spending spending;
  g_lock.lock();
  Record* const all = record();
  const auto begins_here = [&](int i) { return g_begin_of[i] == begin; };
  const int index = all != nullptr ? g_by_address.find(mix(begin) >> 32, begins_here) : -1;
  if (index < 0) {
    g_lock.unlock();
    return;
  }
  protection::remove_array(index);
  g_by_address.remove(mix(begin) >> 32, index);
  g_begin_of[index] = 0;
  filter_of(begin).fetch_sub(1, std::memory_order_relaxed);
  g_lock.unlock();
  // Nobody else has this entry, until it is among those of freed arrays.
  Array& array = all->array[index];
  constexpr int64_t kLongLife = 100'000'000;
  array.died = now_ns();
  if (are_few(all->header) || may_spend(array.died - array.born > kLongLife ? Budget::twice : Budget::half)) {
    look_at(array);
  }
  g_lock.lock();
  array.state.store(ArrayState::freed, std::memory_order_release);
  g_freed.add(g_freed_links, index);
  g_freed_of[g_site_of[index]].add(g_freed_of_links, index);
  g_lock.unlock();
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
    // The thread that frees an array looks at it: one that is being freed just now needs no look here.
    if (g_begin_of[i] != 0) look_at(record()->array[i]);
  }
  g_lock.unlock();
}

}  // namespace weft::numa
