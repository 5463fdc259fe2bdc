// SPDX-License-Identifier: Apache-2.0
// Signals that the program sends to one thread (pthread_kill, pthread_sigqueue, tgkill): to a member they go as
// core/context/signals.h says, to other threads as libc sends them.
#pragma once

#include "platform/libc_calls.h"

namespace weft::openmp {

platform::LibcCalls signal_calls() noexcept;

}  // namespace weft::openmp
