// SPDX-License-Identifier: Apache-2.0
// Who touches arrays: a few of their pages are protected (PROT_NONE) for a while. The first access faults; the handler
// notes who it was and makes the page accessible again. The program must not be able to tell, so that when in doubt no
// page is protected.
//
// A page that is protected has a trap:
//
//   empty  -> arming   by the thread that samples, or the one that allocates, which hold the lock of the arrays
//   arming -> armed    by the same, when the page is protected; it looks at what forbids it again afterwards
//   arming -> empty    by the same, when the page could not be protected
//   armed  -> empty    by any thread, after making the page accessible: in the handler, if it has touched the page; in
//                      a call that passes the page to the kernel; or as the one that samples, after a while
//
// What forbids to protect a page (a hold of its array, a pause, the end) is announced before the traps are looked at;
// a thread that protects announces the trap before it looks at what forbids it. So one of both sees the other
// (sequentially consistent), and a caller that finds `arming` waits until that is over. Only threads that cannot be
// waiting for the caller are waited for: the one that samples handles no signals and touches no array.
//
// More than one may make the same page accessible. Each is counted in the trap while it may do so. Before the program
// frees, maps or protects the page itself, those are waited for: a handler that was preempted on its way must not make
// accessible what the program has protected since. A trap that somebody is counted in is not used again. The wait has a
// limit, since the thread that waits may have interrupted the one that it waits for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "numa/record/layout.h"

namespace weft::numa {

// At the start, when there is a record.
void guard_start() noexcept;

// Whether pages are, or may come to be, protected.
bool guard_is_on() noexcept;

// All pages are accessible from now on, and the program's own handler is in force.
void guard_stop(Stop why) noexcept;

// Whether a fault was caused by a protection of ours; the thread can go on then. `stack`: where the stack of the thread
// ends.
bool guard_fault(uintptr_t address, Access access, uintptr_t code, uintptr_t stack) noexcept;

// Whether a stack that ends at `stack` lies in an array that has been protected: a signal can have found no place
// there. The array is excluded.
bool guard_stack(uintptr_t stack) noexcept;

// The lock of the arrays is held for these two: `index` is that of an array that nobody knows of yet, or that is about
// to be freed.
void guard_new_array(int index) noexcept;
void guard_old_array(int index) noexcept;

// Protects the page at `begin` of the array, `bytes` long. The lock is held.
bool guard_page(int index, uintptr_t begin, size_t bytes, bool first) noexcept;
// How much is protected at once: a page, or a huge one, which must not be split.
size_t guard_unit(int index) noexcept;
// Makes all pages accessible that were not touched for a while, but those that nobody has touched ever since they were
// allocated. The lock is held.
void unguard_untouched() noexcept;

// Memory that a system call is about to access, SIZE_MAX: up to the end of its array. No page of the arrays that it
// lies in is protected meanwhile.
class Hold {
 public:
  Hold(uintptr_t begin, size_t bytes) noexcept { add(begin, bytes); }
  ~Hold();
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 protected:
  Hold() noexcept = default;
  void add(uintptr_t begin, size_t bytes) noexcept;
  // No page of any array is protected meanwhile.
  void add_all() noexcept;

 private:
  bool has(int index) const noexcept;
  static constexpr int kMost = 4;
  int16_t what_[kMost];  // the index of an array, or Held::kPause
  uint8_t count_ = 0;
};

// Several pieces of memory.
class Holds : public Hold {
 public:
  Holds() noexcept = default;
  using Hold::add;
};

// What a Hold or a Pause of a thread that has ended still holds.
void release_held(int what) noexcept;

// No page of any array is protected meanwhile.
class Pause {
 public:
  Pause() noexcept;
  ~Pause();
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;
};

// No page of an array that holds a byte of the range is protected any more, ever.
void exclude(uintptr_t begin, size_t bytes) noexcept;

// Whether there is a Pause.
bool guard_is_paused() noexcept;
// All pages are accessible now; they may be protected again.
void open_guard() noexcept;

// The arrays that hold a byte of the range have huge pages from now on.
void have_huge_pages(uintptr_t begin, size_t bytes) noexcept;

// In a child: nothing is protected, and never will be.
void guard_forget() noexcept;

void guard_before_fork() noexcept;
void guard_after_fork() noexcept;

}  // namespace weft::numa
