// SPDX-License-Identifier: Apache-2.0
// Signals that the program sends to one thread (pthread_kill, pthread_sigqueue, tgkill): to a member they go as
// core/context/signals.h says. The audit library brings the calls here; without it the runtime does, where it starts
// before the program has threads.
#pragma once

namespace weft::openmp {

// Before the pool starts.
void redirect_thread_signals() noexcept;

// From now on calls come here.
void offer_thread_signals() noexcept;

}  // namespace weft::openmp
