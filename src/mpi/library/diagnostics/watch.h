// SPDX-License-Identifier: Apache-2.0
// A thread that says who waits for what: when nothing has happened for long, and when the user asks by SIGUSR1.
#pragma once

#include "mpi/library/runtime.h"

namespace weft::mpi {

// Whether the process was started with SIGUSR1 blocked, as some launchers do. Then the watching thread unblocks it for
// itself, since no thread of the program would take it.
void expect_blocked_signal(bool blocked) noexcept;
// Installs the handler of SIGUSR1. Called before MPI starts, since MPICH installs a handler of its own, which calls the
// one that it finds. Where the program handles or ignores the signal, weft leaves it alone, now and later. `now`: false
// if there is nothing to watch yet.
void take_signal_before_mpi(bool now) noexcept;
// Starts the thread, which watches as WEFT_MPI_SILENCE and WEFT_MPI_SIGNAL say.
void watch_waits(const Runtime& runtime) noexcept;
// Called before MPI ends: the thread makes no call of MPI from now on. `say`: it says now what still waits.
void end_watch(bool say) noexcept;

}  // namespace weft::mpi
