// SPDX-License-Identifier: Apache-2.0
// Signals to one thread of the program, where it may be one of the pool's (core/context/signals.h). From anywhere, also
// from handlers.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <sys/types.h>

namespace weft::core {

inline constexpr int kNoContext = -1;

// Sends `info`, whose si_signo is the signal, to the context with that thread's identity. 0, or an errno; kNoContext:
// it is none that others could run, or the caller's, or no signal for a handler, and the OS thread is the one to send
// it to.
int send_signal(pthread_t thread, const siginfo_t& info) noexcept;

// The same for the context that has the number of a parked thread, or of a thread of the program.
int send_signal_by_number(pid_t thread, const siginfo_t& info) noexcept;

}  // namespace weft::core
