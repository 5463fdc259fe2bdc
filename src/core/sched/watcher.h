// SPDX-License-Identifier: Apache-2.0
// The monitor (core/monitor/monitor.cpp), an OS thread that ticks while roots hold slots, as the floors below it see
// it. Internal to core.
#pragma once

namespace weft::core {

// Starts the monitor. Where the process is to share the node, returns when it does.
void start_monitor() noexcept;

// Whether the monitor runs; false where the system has refused the thread.
bool has_monitor() noexcept;

void wake_monitor() noexcept;

// For a thread that finds a pool whose start() is still under way: waits until the monitor has joined the node, or is
// not to.
void await_monitor() noexcept;

// In the child of a fork there is no monitor.
void forget_monitor() noexcept;

// The initial thread ends while the program may have others: sees to it that the process ends after the last of them.
void end_after_last_thread() noexcept;

}  // namespace weft::core
