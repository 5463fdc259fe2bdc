// SPDX-License-Identifier: Apache-2.0
// The monitor's ticks (every 5 ms), for other layers that have something to look at now and then.
#pragma once

namespace weft::core {

// Called by the monitor at each tick as long as it returns true. Must not wait for a lock that may be held long.
using TickWatcher = bool (*)() noexcept;

// There is one watcher; to set it again is harmless, also while it runs and is about to return false. Returns false
// where there is no monitor: there may be one later, which calls the watcher, or none where the system refuses threads.
// Thread-safe.
bool watch_ticks(TickWatcher watcher) noexcept;

// The monitor's part. Internal to core.
void tick_watcher() noexcept;
bool ticks_watched() noexcept;

}  // namespace weft::core
