// SPDX-License-Identifier: Apache-2.0
#include "numa/collector/guard.h"

#include <algorithm>
#include <atomic>

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

#include "numa/collector/arrays.h"
#include "numa/collector/collector.h"
#include "numa/collector/fault.h"
#include "numa/collector/sampler.h"
#include "numa/collector/signals.h"
#include "numa/collector/threads.h"
#include "platform/cycles.h"
#include "platform/small_file.h"
#include "platform/system_call.h"

namespace weft::numa {

namespace {

using platform::system_call;

constexpr int kSlots = 1024;
// Pages that wait for their first touch must leave room for others.
constexpr int kMostFirst = kSlots / 2;

// `state` is the number of times that the slot was used, and one of these. Sequentially consistent where nothing else
// is said: guard.h.
enum : uint32_t { kEmpty, kArming, kArmed, kStateMask = 3, kNextUse = 4 };

struct Slot {
  std::atomic<uint32_t> state{kEmpty};
  std::atomic<uintptr_t> begin{0};
  std::atomic<uint32_t> bytes{0};
  std::atomic<uint32_t> array{0};
  std::atomic<bool> first{false};
};

constinit Slot g_slots[kSlots];
constinit std::atomic<int> g_used_slots{0};  // slots from 0 to here have been used
constinit std::atomic<int> g_first{0};
constinit std::atomic<bool> g_on{false};
constinit std::atomic<uint32_t> g_pauses{0};
uint64_t g_page = 4096;
uint64_t g_huge_page = 0;  // of memory that has them without being asked; 0: there is none

bool make_accessible(uintptr_t begin, size_t bytes) noexcept {
  return system_call(SYS_mprotect, begin, bytes, PROT_READ | PROT_WRITE) == 0;
}

// Lets whoever protects a page come to an end. A process that was made by a system call of its own lacks that thread:
// it goes on after a while.
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

// Makes the page of the slot accessible if it is still in the use that was seen.
void open_slot(Slot& slot, uint32_t seen) noexcept {
  const uintptr_t begin = slot.begin.load();
  const uint32_t bytes = slot.bytes.load();
  const bool first = slot.first.load();
  const uint32_t armed = (seen & ~uint32_t{kStateMask}) | kArmed;
  int naps = 0;
  while (slot.state.load() == ((seen & ~uint32_t{kStateMask}) | kArming) && nap(naps)) {
  }
  const uint32_t now = slot.state.load();
  if ((now & ~uint32_t{kStateMask}) != (seen & ~uint32_t{kStateMask}) || (now & kStateMask) == kEmpty) return;
  make_accessible(begin, bytes);
  uint32_t expected = armed;
  if (slot.state.compare_exchange_strong(expected, (seen & ~uint32_t{kStateMask}) | kEmpty)) {
    if (first) g_first.fetch_sub(1);
  }
}

template <class Visit>
void visit_slots(uintptr_t begin, uintptr_t end, Visit&& visit) noexcept {
  const int used = g_used_slots.load();
  for (int i = 0; i < used; ++i) {
    Slot& slot = g_slots[i];
    const uint32_t state = slot.state.load();
    if ((state & kStateMask) == kEmpty) continue;
    const uintptr_t first = slot.begin.load();
    if (first >= end || first + slot.bytes.load() <= begin) continue;
    if (slot.state.load() >> 2 == state >> 2) visit(slot, state);
  }
}

void open_range(uintptr_t begin, uintptr_t end) noexcept { visit_slots(begin, end, open_slot); }
void open_all() noexcept { open_range(0, UINTPTR_MAX); }

bool is_forbidden(const ArrayGuard& guard) noexcept {
  return !g_on.load() || g_pauses.load() > 0 || guard.holds.load() > 0 || guard.excluded.load();
}

void note_touch(uintptr_t address, uint32_t index, bool first, Access access, uintptr_t code) noexcept {
  Record* all = record();
  if (all == nullptr || !is_own_process()) return;
  // Relaxed: it gives each touch an entry of its own.
  const uint32_t number = all->header.touches.fetch_add(1, std::memory_order_relaxed);
  if (number >= kTouches) return;
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
  // Release: who finds the time finds the rest.
  __atomic_store_n(&touch.time, now_ns(), __ATOMIC_RELEASE);
}

// A fault at memory that was protected when the thread touched it, and no longer is. Nobody else may protect it: that
// of the program's own is excluded. Yet a protection by a system call of the program's would have it fault forever.
bool is_late(uintptr_t address) noexcept {
  constexpr int kMostInARow = 1000;
  static constinit std::atomic<uintptr_t> last{0};
  static constinit std::atomic<int> in_a_row{0};
  const int index = find_array(address, 1);
  if (index < 0 || !g_guards[index].was_protected.load()) return false;
  if (last.exchange(address) != address) in_a_row.store(0);
  return in_a_row.fetch_add(1) < kMostInARow;
}

bool huge_pages_without_asking() noexcept {
  char text[128];
  return platform::read_small_file("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text) &&
         __builtin_strstr(text, "[always]") != nullptr;
}

}  // namespace

bool guard_fault(uintptr_t address, Access access, uintptr_t code) noexcept {
  const int64_t began = now_ns();
  bool ours = false;
  visit_slots(address, address + 1, [&](Slot& slot, uint32_t state) {
    const uint32_t array = slot.array.load();
    const bool first = slot.first.load();
    if (!ours) note_touch(address, array, first, access, code);
    ours = true;
    open_slot(slot, state);
  });
  if (!ours) return is_late(address);
  // And the fault itself. A thread that has lost its CPU meanwhile has not spent what passed.
  constexpr int64_t kFault = 2'000;
  constexpr int64_t kMost = 50'000;
  if (record() != nullptr) spend(kFault + std::min(now_ns() - began, kMost));
  return true;
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
  visit_slots(begin, begin + bytes, [&](const Slot&, uint32_t) { is_guarded = true; });
  if (is_guarded) return false;
  int free = 0;
  while (free < kSlots && (g_slots[free].state.load() & kStateMask) != kEmpty) ++free;
  if (free == kSlots) return false;
  Slot& slot = g_slots[free];
  const uint32_t use = (slot.state.load() & ~uint32_t{kStateMask}) + kNextUse;
  slot.begin.store(begin);
  slot.bytes.store(static_cast<uint32_t>(bytes));
  slot.array.store(static_cast<uint32_t>(index));
  slot.first.store(first);
  if (g_used_slots.load() <= free) g_used_slots.store(free + 1);
  guard.was_protected.store(true);
  if (first) g_first.fetch_add(1);
  slot.state.store(use | kArming);
  const bool done = !is_forbidden(guard) && system_call(SYS_mprotect, begin, bytes, PROT_NONE) == 0;
  slot.state.store(use | kArmed);
  // A hold that was announced in the meantime has waited for the slot, and opens it; this is for one that came too
  // early to find it.
  if (!done || is_forbidden(guard)) open_slot(slot, use | kArmed);
  return done;
}

void unguard_untouched() noexcept {
  visit_slots(0, UINTPTR_MAX, [](Slot& slot, uint32_t state) {
    if (!slot.first.load()) open_slot(slot, state);
  });
}

size_t guard_unit(int index) noexcept {
  const Array& array = record()->array[index];
  const bool huge = g_guards[index].huge.load() || (g_huge_page != 0 && array.bytes >= 2 * g_huge_page);
  constexpr uint64_t kHugePage = 2 << 20;
  return huge ? kHugePage : g_page;
}

void guard_new_array(int index) noexcept {
  const Array& array = record()->array[index];
  // What a block that was made larger held before has been touched already.
  if (!guard_is_on() || array.how == How::realloc || !may_spend()) return;
  if (!faults_are_ours()) return guard_stop(Stop::foreign_handler);
  constexpr uint64_t kLargeArray = 64 << 20;
  const int most = std::min(array.bytes >= kLargeArray ? 128 : 64, kMostFirst - g_first.load());
  const int64_t used = used_ns();
  guard_some(index, most, true);
  spend(used_ns() - used);
}

void guard_old_array(int index) noexcept {
  const ArrayGuard& guard = g_guards[index];
  if (guard.was_protected.load()) open_range(guard.begin.load(), guard.end.load());
}

Hold::Hold(uintptr_t begin, size_t bytes) noexcept {
  if (!guard_is_on() || bytes == 0) return;
  const int index = find_array(begin, bytes == SIZE_MAX ? 1 : bytes);
  if (index < 0) return;
  array_ = index;
  g_guards[index].holds.fetch_add(1);
  const uintptr_t end = bytes == SIZE_MAX ? g_guards[index].end.load() : begin + bytes;
  visit_slots(begin, end, [&](Slot& slot, uint32_t state) {
    note_touch(std::max(slot.begin.load(), begin), static_cast<uint32_t>(index), slot.first.load(), Access::call, 0);
    open_slot(slot, state);
  });
}

// An array that was freed meanwhile, which only a program with a race can do, has a count of its own.
Hold::~Hold() {
  if (array_ < 0) return;
  uint32_t holds = g_guards[array_].holds.load();
  while (holds > 0 && !g_guards[array_].holds.compare_exchange_weak(holds, holds - 1)) {
  }
}

void pause_guard() noexcept {
  g_pauses.fetch_add(1);
  open_all();
}

void resume_guard() noexcept { g_pauses.fetch_sub(1); }

void open_guard() noexcept { open_all(); }

bool is_of_array(uintptr_t begin, size_t bytes) noexcept { return bytes > 0 && find_array(begin, bytes) >= 0; }

Pause::Pause() noexcept { pause_guard(); }

Pause::~Pause() { resume_guard(); }

namespace {

template <class Visit>
void visit_arrays(uintptr_t begin, size_t bytes, Visit&& visit) noexcept {
  if (!guard_is_on()) return;
  for (int i = find_array(begin, bytes); i >= 0; i = find_array(begin, bytes, i + 1)) {
    visit(g_guards[i]);
    if (g_guards[i].was_protected.load()) open_range(g_guards[i].begin.load(), g_guards[i].end.load());
  }
}

}  // namespace

void exclude(uintptr_t begin, size_t bytes) noexcept {
  visit_arrays(begin, bytes, [](ArrayGuard& guard) { guard.excluded.store(true); });
}

// What was still to be touched first is so in larger units.
void have_huge_pages(uintptr_t begin, size_t bytes) noexcept {
  const int first = g_first.load();
  visit_arrays(begin, bytes, [](ArrayGuard& guard) { guard.huge.store(true); });
  if (g_first.load() >= first) return;
  lock_arrays();
  for (int i = find_array(begin, bytes); i >= 0; i = find_array(begin, bytes, i + 1)) guard_new_array(i);
  unlock_arrays();
}

void guard_before_fork() noexcept { pause_guard(); }

void guard_after_fork() noexcept { resume_guard(); }

}  // namespace weft::numa
