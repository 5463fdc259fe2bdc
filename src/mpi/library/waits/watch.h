// SPDX-License-Identifier: Apache-2.0
// A thread that says who waits for what: when nothing has happened for long, and when the user asks by SIGUSR1.
#pragma once

#include "mpi/library/runtime.h"

namespace weft::mpi {

// Launchers may leave the signal blocked. Then the thread that watches takes it, for no thread of the program would.
void expect_blocked_signal(bool blocked) noexcept;
// Before MPI starts, since MPICH has a handler of its own, which calls the one that it finds. Nothing happens, then or
// later, if the program has a handler or ignores the signal. `now`: false if there is nothing to watch yet.
void take_signal_before_mpi(bool now) noexcept;
// From now on, as WEFT_MPI_SILENCE and WEFT_MPI_SIGNAL say.
void watch_waits(const Runtime& runtime) noexcept;
// Before MPI ends: it makes no call of MPI any more. `say`: what still waits is said now.
void end_watch(bool say) noexcept;

}  // namespace weft::mpi
