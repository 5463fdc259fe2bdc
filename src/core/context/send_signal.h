// SPDX-License-Identifier: Apache-2.0
// Sends signals to one thread of the program, which may be a context (core/context/signals.h). Called from anywhere,
// also from signal handlers.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <sys/types.h>

namespace weft::core {

inline constexpr int kNoContext = -1;

// Sends `info`, whose si_signo is the signal, to the context with that thread's identity. Returns 0 or an errno; or
// kNoContext, where the signal is to be sent to the OS thread as usual: no other carrier can run the thread's context,
// or it is the caller's, or the signal has no handler.
int send_signal(pthread_t thread, const siginfo_t& info) noexcept;

// The same for the context that has the number of a parked thread, or of a thread of the program.
int send_signal_by_number(pid_t thread, const siginfo_t& info) noexcept;

}  // namespace weft::core
