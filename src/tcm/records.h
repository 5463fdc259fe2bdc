// SPDX-License-Identifier: Apache-2.0
// The permits of the process. One lock guards all of this; it is held for some hundred instructions. Clients are called
// without it. A client reads with the lock held what it is granted, so that is never out of date (PermitFlags::stale);
// a call follows each change.
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
  int more = 0;  // how many slots could be used beside these
  core::GuestLoad load;  // the load of the pool, when it was last looked at
  std::array<int, 4> outsiders{};  // the most that were seen during each of the last ticks, in a ring
  unsigned ticks = 0;
  Counts counts;
};

// Guarded by the lock, as all that follows.
extern Records g_records;

// The signal mask of a thread of the program, for calls of clients: these may make threads, and the monitor, which
// calls them too, has all signals blocked.
extern sigset_t g_signals;

// Makes room for one permit more. Returns false where there is no memory.
bool make_room() noexcept;

// A new permit, in use; null if there is no memory.
Permit* take_record() noexcept;

// Puts the permit at the end of the list of those in use, as one of this process: of equals the older one comes first.
void link(Permit* permit) noexcept;
void unlink(Permit* permit) noexcept;

// Puts a record back for take_record().
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
