// SPDX-License-Identifier: Apache-2.0
// For handlers of faults: a signal that is not theirs goes on to whom it would have reached without them.
#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weft::platform {

// Restores `before`, the action in force before the handler that calls this, and sends the calling thread the same
// signal once more; it arrives when the handler returns. A fault would happen again by itself, but a signal that was
// sent (kill, raise, sigqueue) would be lost.
inline void raise_again(int signal, const siginfo_t* info, const struct sigaction& before) noexcept {
  sigaction(signal, &before, nullptr);
  const pid_t process = getpid();
  const auto thread = static_cast<pid_t>(syscall(SYS_gettid));
  // The signal is sent with what it said. A sandbox may forbid that; then the signal arrives without.
  if (syscall(SYS_rt_tgsigqueueinfo, process, thread, signal, info) != 0) syscall(SYS_tgkill, process, thread, signal);
}

// Whether somebody has sent the signal: no instruction of the program's has caused it.
inline bool was_sent(const siginfo_t* info) noexcept { return info->si_code <= 0; }

}  // namespace weft::platform
