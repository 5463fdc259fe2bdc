// SPDX-License-Identifier: Apache-2.0
// Other processes: whether one is still what it was.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

namespace weft::platform {

// By which a process can be told from others of its number, also by a process in another time namespace, or with
// another /proc.
struct ProcessId {
  pid_t pid = 0;
  // That of its pidfd: from Linux 6.9 on no two processes ever have the same. 0: unknown.
  uint64_t inode = 0;
  // For other kernels: when it was started, as processes with the same `clock` see it. 0: unknown.
  uint64_t start = 0;
  uint64_t clock = 0;
};
ProcessId own_process_id() noexcept;

// Whether the process has ended, be it collected or not. Where there is doubt it has not. The caller must be in the
// same namespace of process numbers.
bool process_has_ended(const ProcessId& process) noexcept;

// Whether no thread has this number: with its process, or alone, it has ended. The same holds.
bool thread_has_ended(pid_t thread) noexcept;

// When `pid` was started, in the kernel's ticks since it booted; 0 when there is no such process, or it has ended and
// only waits to be collected, or /proc does not say. In another time namespace it is another number.
uint64_t process_start(pid_t pid) noexcept;

// CPU time that a process has used, in nanoseconds; 0 when there is no such process.
int64_t process_cpu_time(pid_t pid) noexcept;

// Its threads, those that sleep for good included; 0 when it is not there.
int process_threads(pid_t pid) noexcept;

// Whether a thread of the process runs or wants to. Some 10 us per thread; unknown counts as no.
bool process_runs(pid_t pid) noexcept;

// The name of the command that the caller is, cut to `room` - 1 characters.
void command_name(char* text, size_t room) noexcept;

// A number for the namespace that the caller's process numbers belong to; 0 when the kernel does not say.
uint64_t pid_namespace() noexcept;

}  // namespace weft::platform
