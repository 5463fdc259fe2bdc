// SPDX-License-Identifier: Apache-2.0
// The permits of the process, and what goes with them. One lock guards all of it; it is held for some hundred
// instructions. Clients are called without it. They read what is granted with it, so that is never out of date
// (PermitFlags::stale), and after each change a call follows.
#pragma once

#include <array>

#include <signal.h>

#include "core/budget/guest_link.h"
#include "tcm/permits.h"

namespace weft::tcm {

// Holds the lock.
class Locked {
 public:
  Locked() noexcept;
  ~Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

struct Records {
  unsigned generation = 0;  // of the process: a forked child has a new one
  Permit* permits = nullptr;  // those in use
  Permit* free = nullptr;
  Demand** demands = nullptr;  // room for as many as there are permits
  int permit_count = 0;
  int room = 0;
  int held = 0;  // slots of the pool
  int more = 0;  // that could be used beside these
  core::GuestLoad load;  // the pool, when it was last looked at
  std::array<int, 4> outsiders{};  // the most that were seen during each of the last ticks, in a ring
  unsigned ticks = 0;
  Counts counts;
};

// Guarded by the lock, as all that follows.
extern Records g_records;

// The signal mask of a thread of the program's: clients make threads when they are called, and the monitor has all
// signals blocked.
extern sigset_t g_signals;

// For one permit more. False: there is no memory.
bool make_room() noexcept;

// A new permit, in use; null if there is no memory.
Permit* take_record() noexcept;

// In use from now on, of this process, behind all others: of equals the older one comes first.
void link(Permit* permit) noexcept;
void unlink(Permit* permit) noexcept;

// For take_record().
void put_record(Permit* permit) noexcept;

// Whether it takes part in the division.
inline bool competes(const Permit& permit) noexcept {
  return permit.state == State::active || permit.state == State::pending;
}

// Whether the record belongs to this process, and not to the parent that it was forked from.
inline bool is_ours(const Permit& permit) noexcept { return permit.generation == g_records.generation; }

// Leaves the records of the parent behind, in the child of a fork. Without the lock.
void forget_records() noexcept;

}  // namespace weft::tcm
