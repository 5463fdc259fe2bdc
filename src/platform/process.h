// SPDX-License-Identifier: Apache-2.0
// Other processes: whether one is still what it was.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

namespace weft::platform {

// When `pid` was started, in the kernel's ticks since it booted; 0 when there is no such process, or it has ended and
// only waits to be collected, or /proc does not say.
uint64_t process_start(pid_t pid) noexcept;

// Whether the process `pid` that was started at `start` has ended. A number that serves another process since has
// another start. Unknown counts as not ended.
bool process_has_ended(pid_t pid, uint64_t start) noexcept;

// CPU time that a process has used, in nanoseconds; 0 when there is no such process.
int64_t process_cpu_time(pid_t pid) noexcept;

// Whether a thread of the process runs or wants to. Some 10 us a thread; unknown counts as no.
bool process_runs(pid_t pid) noexcept;

// The name of the command that the caller is, cut to `room` - 1 characters.
void command_name(char* text, size_t room) noexcept;

// A number for the namespace that the caller's process numbers belong to; 0 when the kernel does not say.
uint64_t pid_namespace() noexcept;

}  // namespace weft::platform
