// SPDX-License-Identifier: Apache-2.0
#include "numa/protect/guard.h"

#include <algorithm>
#include <atomic>

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

#include "numa/collector/arrays.h"
#include "numa/collector/collector.h"
#include "numa/protect/guarded.h"
#include "numa/protect/sampler.h"
#include "numa/protect/signals.h"
#include "numa/protect/threads.h"
#include "platform/cycles.h"
#include "platform/small_file.h"
#include "platform/system_call.h"

namespace weft::numa {

namespace {

using platform::system_call;

constexpr int kTraps = 1024;
// Pages that wait for their first touch must leave room for others.
constexpr int kMostFirst = kTraps / 2;

// `state` is the number of times that the trap was used, and one of these. Sequentially consistent where nothing else
// is said: guard.h.
enum : uint32_t { kEmpty, kArming, kArmed, kStateMask = 3, kNextUse = 4 };

struct Trap {
  std::atomic<uint32_t> state{kEmpty};
  std::atomic<uintptr_t> begin{0};
  std::atomic<uint32_t> bytes{0};
  std::atomic<uint32_t> array{0};
  std::atomic<bool> first{false};
  std::atomic<uint32_t> openers{0};  // that may be making the page accessible
};

constinit Trap g_traps[kTraps];
constinit std::atomic<int> g_used_traps{0};  // traps from 0 to here have been used
constinit std::atomic<int> g_first{0};
constinit std::atomic<bool> g_on{false};
constinit std::atomic<uint32_t> g_pauses{0};
uint64_t g_page = 4096;
uint64_t g_huge_page = 0;  // of memory that has them without being asked; 0: there is none

bool make_accessible(uintptr_t begin, size_t bytes) noexcept {
  return system_call(SYS_mprotect, begin, bytes, PROT_READ | PROT_WRITE) == 0;
}

// Lets a thread that protects a page come to an end. A process that was made by a system call of its own lacks that
// thread: it goes on after a while.
bool nap(int& naps) noexcept {
  constexpr int kSpins = 200;
  constexpr int kMostNaps = 20'000;
  if (++naps < kSpins) {
    platform::pause();
    return true;
  }
  const timespec time{0, 50'000};
  system_call(SYS_nanosleep, &time, nullptr);
  return naps < kMostNaps;
}

// When a page was made accessible; another one of the same hash takes its place. Relaxed: a time that is missed is one
// of long ago.
struct Opened {
  std::atomic<uintptr_t> begin{0};
  std::atomic<int64_t> time{0};
};
constexpr size_t kOpened = 1024;
constinit Opened g_opened[kOpened];

Opened& opened_at(uintptr_t begin) noexcept { return g_opened[(begin >> 12) * 0x9E3779B97F4A7C15ULL >> 54]; }

// Makes the page of the trap accessible if it is still in the use that was seen.
void open_trap(Trap& trap, uint32_t seen) noexcept {
  const uint32_t use = seen & ~uint32_t{kStateMask};
  int naps = 0;
  while (trap.state.load() == (use | kArming) && nap(naps)) {
  }
  trap.openers.fetch_add(1);
  const uint32_t now = trap.state.load();
  // Arming still: the thread that does it is not in this process.
  if (now == (use | kArmed) || now == (use | kArming)) {
    const uintptr_t begin = trap.begin.load();
    const bool first = trap.first.load();
    opened_at(begin).begin.store(begin, std::memory_order_relaxed);
    opened_at(begin).time.store(now_ns(), std::memory_order_relaxed);
    make_accessible(begin, trap.bytes.load());
    uint32_t armed = use | kArmed;
    if (trap.state.compare_exchange_strong(armed, use | kEmpty) && first) g_first.fetch_sub(1);
  }
  trap.openers.fetch_sub(1);
}

// Waits for those that may be making pages of the range accessible. One of them may be the thread that the caller has
// interrupted.
void settle(uintptr_t begin, uintptr_t end) noexcept {
  constexpr int kMostNaps = 600;
  const int used = g_used_traps.load();
  for (int i = 0; i < used; ++i) {
    const Trap& trap = g_traps[i];
    if (trap.openers.load() == 0 || trap.begin.load() >= end || trap.begin.load() + trap.bytes.load() <= begin)
      continue;
    for (int naps = 0; trap.openers.load() > 0 && naps < kMostNaps;) nap(naps);
  }
}

template <class Visit>
void visit_traps(uintptr_t begin, uintptr_t end, Visit&& visit) noexcept {
  const int used = g_used_traps.load();
  for (int i = 0; i < used; ++i) {
    Trap& trap = g_traps[i];
    const uint32_t state = trap.state.load();
    if ((state & kStateMask) == kEmpty) continue;
    const uintptr_t first = trap.begin.load();
    if (first >= end || first + trap.bytes.load() <= begin) continue;
    if (trap.state.load() >> 2 == state >> 2) visit(trap, state);
  }
}

void open_range(uintptr_t begin, uintptr_t end) noexcept { visit_traps(begin, end, open_trap); }
void open_all() noexcept { open_range(0, UINTPTR_MAX); }

bool is_forbidden(const ArrayGuard& guard) noexcept {
  return !g_on.load() || g_pauses.load() > 0 || guard.holds.load() > 0 || guard.excluded.load();
}

void note_touch(uintptr_t address, uint32_t index, bool first, Access access, uintptr_t code) noexcept {
  Record* all = record();
  if (all == nullptr || !is_own_process()) return;
  // Relaxed: it gives each touch an entry of its own.
  const uint32_t number = all->header.touches.fetch_add(1, std::memory_order_relaxed);
  // Acquire: what has room can be written.
  if (number >= all->header.touch_room.load(std::memory_order_acquire)) return;
  const Array& array = all->array[index];
  unsigned cpu = 0;
  unsigned node = 0;
  system_call(SYS_getcpu, &cpu, &node, nullptr);
  Touch& touch = all->touch[number];
  touch.array = array.number.load(std::memory_order_relaxed);
  const uintptr_t offset = address > array.begin ? address - array.begin : 0;
  touch.position = position_of(offset, array.bytes);
  touch.thread = thread_number();
  touch.node = static_cast<int16_t>(node);
  touch.cpu = static_cast<int16_t>(cpu);
  touch.site = static_cast<uint16_t>(array.site);
  touch.access = access;
  touch.first = first ? 1 : 0;
  touch.code = code;
  // Release: a reader that finds the time finds the rest.
  __atomic_store_n(&touch.time, now_ns(), __ATOMIC_RELEASE);
}

// A fault at memory that was protected when the thread touched it, and no longer is. It happens once: the thread goes
// on. A fault that happens again is the program's own, unless the page has been protected again meanwhile.
bool is_late(uintptr_t address) noexcept {
  constexpr int64_t kRecent = 10'000'000;
  constexpr int64_t kForgotten = 100'000'000;
  constexpr int kMostInARow = 100;
  const int index = find_array(address, 1);
  if (index < 0) return false;
  const int64_t now = now_ns();
  const auto opened_lately = [&](uintptr_t begin) {
    const Opened& opened = opened_at(begin);
    return opened.begin.load(std::memory_order_relaxed) == begin &&
           now - opened.time.load(std::memory_order_relaxed) < kRecent;
  };
  constexpr uintptr_t kHugePage = 2 << 20;
  const bool lately = opened_lately(address & ~(g_page - 1)) || opened_lately(address & ~(kHugePage - 1));
  LateFault& last = late_fault();
  const bool again = last.address == address && now - last.time < kForgotten;
  last = {address, now, again ? last.in_a_row + 1 : 1};
  return !again || (lately && last.in_a_row < kMostInARow);
}

// A stack that lies in an array: the kernel must find place there for signals that the program handles.
bool holds_stack(const ArrayGuard& guard, uintptr_t stack) noexcept {
  return stack >= guard.begin.load() && stack <= guard.end.load();
}

void exclude_array(ArrayGuard& guard) noexcept {
  guard.excluded.store(true);
  // A thread that has excluded it before has come to an end with that.
  if (!guard.was_protected.load()) return;
  const uintptr_t begin = guard.begin.load();
  const uintptr_t end = guard.end.load();
  open_range(begin, end);
  settle(begin, end);
  guard.was_protected.store(false);
}

template <class Visit>
void visit_arrays(uintptr_t begin, size_t bytes, Visit&& visit) noexcept {
  if (!guard_is_on()) return;
  for (int i = find_array(begin, bytes); i >= 0; i = find_array(begin, bytes, i + 1)) visit(g_guards[i]);
}

bool huge_pages_without_asking() noexcept {
  char text[128];
  return platform::read_small_file("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text) &&
         __builtin_strstr(text, "[always]") != nullptr;
}

}  // namespace

bool guard_fault(uintptr_t address, Access access, uintptr_t code, uintptr_t stack) noexcept {
  const int64_t began = now_ns();
  bool ours = false;
  visit_traps(address, address + 1, [&](Trap& trap, uint32_t state) {
    const uint32_t array = trap.array.load();
    const bool first = trap.first.load();
    if (holds_stack(g_guards[array], stack)) {
      g_guards[array].excluded.store(true);
      open_range(g_guards[array].begin.load(), g_guards[array].end.load());
    } else if (!ours) {
      note_touch(address, array, first, access, code);
    }
    ours = true;
    open_trap(trap, state);
  });
  if (!ours) return is_late(address);
  // And the fault itself. A thread that has lost its CPU meanwhile has not spent what passed.
  constexpr int64_t kFault = 2'000;
  constexpr int64_t kMost = 50'000;
  if (record() != nullptr) spend(kFault + std::min(now_ns() - began, kMost));
  return true;
}

bool guard_stack(uintptr_t stack) noexcept {
  bool found = false;
  // The frame of a signal lies below, and its extent is the CPU's affair.
  constexpr uintptr_t kFrame = 16 << 10;
  visit_arrays(stack - kFrame, kFrame + 1, [&](ArrayGuard& guard) {
    found = found || (guard.was_protected.load() && !guard.excluded.load());
    exclude_array(guard);
  });
  return found;
}

void guard_start() noexcept {
  const Header& header = record()->header;
  if (header.touching == Touching::off) return;
  g_page = header.page_size;
  constexpr uint64_t kHugePage = 2 << 20;
  if (huge_pages_without_asking()) g_huge_page = kHugePage;
  if (const Stop why = reason_not_to_sample(); why != Stop::none) {
    record()->header.stop.store(why);
    return;
  }
  take_faults();
  start_handler_stacks();
  g_on.store(true);
}

bool guard_is_on() noexcept { return g_on.load(std::memory_order_relaxed); }

void guard_stop(Stop why) noexcept {
  Record* all = record();
  if (!g_on.exchange(false)) return;
  Stop none = Stop::none;
  if (all != nullptr) all->header.stop.compare_exchange_strong(none, why);
  open_all();
  settle(0, UINTPTR_MAX);
}

void guard_forget() noexcept {
  g_on.store(false);
  open_all();
}

bool guard_page(int index, uintptr_t begin, size_t bytes, bool first) noexcept {
  ArrayGuard& guard = g_guards[index];
  if (is_forbidden(guard)) return false;
  // One that still waits for its first touch must not be opened with another.
  bool is_guarded = false;
  visit_traps(begin, begin + bytes, [&](const Trap&, uint32_t) { is_guarded = true; });
  if (is_guarded) return false;
  int free = 0;
  const auto is_free = [](const Trap& trap) {
    return (trap.state.load() & kStateMask) == kEmpty && trap.openers.load() == 0;
  };
  while (free < kTraps && !is_free(g_traps[free])) ++free;
  if (free == kTraps) return false;
  Trap& trap = g_traps[free];
  const uint32_t use = (trap.state.load() & ~uint32_t{kStateMask}) + kNextUse;
  trap.begin.store(begin);
  trap.bytes.store(static_cast<uint32_t>(bytes));
  trap.array.store(static_cast<uint32_t>(index));
  trap.first.store(first);
  if (g_used_traps.load() <= free) g_used_traps.store(free + 1);
  guard.was_protected.store(true);
  if (first) g_first.fetch_add(1);
  trap.state.store(use | kArming);
  const bool done = !is_forbidden(guard) && system_call(SYS_mprotect, begin, bytes, PROT_NONE) == 0;
  if (!done) {
    if (first) g_first.fetch_sub(1);
    trap.state.store(use | kEmpty);
    return false;
  }
  trap.state.store(use | kArmed);
  // A hold that was announced in the meantime has waited for the trap, and opens it; this is for one that came too
  // early to find it.
  if (is_forbidden(guard)) open_trap(trap, use | kArmed);
  return true;
}

void unguard_untouched() noexcept {
  visit_traps(0, UINTPTR_MAX, [](Trap& trap, uint32_t state) {
    if (!trap.first.load()) open_trap(trap, state);
  });
}

size_t guard_unit(int index) noexcept {
  const Array& array = record()->array[index];
  const bool huge = g_guards[index].huge.load() || (g_huge_page != 0 && array.bytes >= 2 * g_huge_page);
  constexpr uint64_t kHugePage = 2 << 20;
  return huge ? kHugePage : g_page;
}

void guard_new_array(int index) noexcept {
  constexpr uint64_t kLargeArray = 64 << 20;
  const Array& array = record()->array[index];
  // What a block that was made larger held before has been touched already.
  if (!guard_is_on() || array.how == How::realloc || array.how == How::mapped) return;
  if (!may_spend(Budget::half) && !(may_sample() && array.bytes >= kLargeArray)) return;
  if (!faults_are_ours()) return guard_stop(Stop::foreign_handler);
  const int most = std::min(array.bytes >= kLargeArray ? 128 : 64, kMostFirst - g_first.load());
  guard_some(index, most, true);
}

void guard_old_array(int index) noexcept {
  const ArrayGuard& guard = g_guards[index];
  if (!guard.was_protected.load()) return;
  open_range(guard.begin.load(), guard.end.load());
  settle(guard.begin.load(), guard.end.load());
}

bool Hold::has(int index) const noexcept {
  for (int i = 0; i < count_; ++i) {
    if (what_[i] == index || what_[i] == Held::kPause) return true;
  }
  return false;
}

// Memory may lie in several entries: a mapping of the program's, and a block that an allocator has cut out of it.
// Arrays that are never protected need no hold. Where there is no room for one more, all are held.
void Hold::add(uintptr_t begin, size_t bytes) noexcept {
  if (!guard_is_on() || begin == 0 || bytes == 0) return;
  const bool to_the_end = bytes == SIZE_MAX;
  for (int i = find_array(begin, to_the_end ? 1 : bytes); i >= 0;
       i = find_array(begin, to_the_end ? 1 : bytes, i + 1)) {
    ArrayGuard& guard = g_guards[i];
    if (guard.excluded.load()) continue;
    if (!has(i)) {
      const int what = count_ + 1 < kMost ? i : Held::kPause;
      what_[count_++] = static_cast<int16_t>(what);
      note_held(what);
      (what == Held::kPause ? g_pauses : guard.holds).fetch_add(1);
      if (what == Held::kPause) open_all();
    }
    const uintptr_t end = to_the_end ? guard.end.load() : begin + bytes;
    visit_traps(begin, end, [&](Trap& trap, uint32_t state) {
      if (trap.array.load() != static_cast<uint32_t>(i)) return;
      note_touch(std::max(trap.begin.load(), begin), static_cast<uint32_t>(i), trap.first.load(), Access::call, 0);
      open_trap(trap, state);
    });
  }
}

void Hold::add_all() noexcept {
  if (!guard_is_on() || has(Held::kPause)) return;
  what_[count_++] = Held::kPause;
  note_held(Held::kPause);
  guard_before_fork();
}

Hold::~Hold() {
  while (count_ > 0) {
    const int what = what_[--count_];
    forget_held(what);
    release_held(what);
  }
}

// An array that was freed meanwhile, which only a program with a race can do, has a count of its own.
void release_held(int what) noexcept {
  std::atomic<uint32_t>& count = what == Held::kPause ? g_pauses : g_guards[what].holds;
  uint32_t now = count.load();
  while (now > 0 && !count.compare_exchange_weak(now, now - 1)) {
  }
}

void open_guard() noexcept { open_all(); }

bool guard_is_paused() noexcept { return g_pauses.load() > 0; }

Pause::Pause() noexcept {
  note_held(Held::kPause);
  guard_before_fork();
}

Pause::~Pause() {
  forget_held(Held::kPause);
  guard_after_fork();
}

void exclude(uintptr_t begin, size_t bytes) noexcept { visit_arrays(begin, bytes, exclude_array); }

// What was still to be touched first is so in larger units.
void have_huge_pages(uintptr_t begin, size_t bytes) noexcept {
  const int first = g_first.load();
  visit_arrays(begin, bytes, [](ArrayGuard& guard) {
    guard.huge.store(true);
    if (guard.was_protected.load()) open_range(guard.begin.load(), guard.end.load());
  });
  if (g_first.load() >= first) return;
  lock_arrays();
  for (int i = find_array(begin, bytes); i >= 0; i = find_array(begin, bytes, i + 1)) guard_new_array(i);
  unlock_arrays();
}

void guard_before_fork() noexcept {
  g_pauses.fetch_add(1);
  open_all();
}

void guard_after_fork() noexcept { release_held(Held::kPause); }

}  // namespace weft::numa
