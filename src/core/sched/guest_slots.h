// SPDX-License-Identifier: Apache-2.0
// Guests (core/budget/guests.h), as far as the scheduler knows them; core/budget defines the functions. Internal to
// core.
#pragma once

#include <atomic>

#include "core/context/guest_part.h"
#include "platform/futex_lock.h"

namespace weft::core {

struct Carrier;
struct Pool;

// Carriers that hold slots of the node for guests.
struct GuestCarriers {
  platform::FutexLock lock;
  Carrier* first = nullptr;
  std::atomic<int> count{0};  // written with the lock held; relaxed, the monitor asks whether there are any
};

// The caller's part in the library of guests: for a thread that becomes a root.
GuestPart guest_part_of_caller() noexcept;

// To be called when a pool starts: guests may hold slots already.
void begin_guests(Pool& pool) noexcept;

}  // namespace weft::core
