// SPDX-License-Identifier: Apache-2.0
// For those that have something to look at now and then: the monitor's ticks (5 ms).
#pragma once

namespace weft::core {

// Called by the monitor at each tick as long as it returns true. Must not wait for a lock that may be held long.
using TickWatcher = bool (*)() noexcept;

// There is one watcher; to set it again is harmless, also while it runs and is about to return false. False: there is
// no monitor yet, or ever, since the system refuses threads; one that comes later calls it. Thread-safe.
bool watch_ticks(TickWatcher watcher) noexcept;

// The monitor's part. Internal to core.
void tick_watcher() noexcept;
bool ticks_watched() noexcept;

}  // namespace weft::core
