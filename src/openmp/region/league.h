// SPDX-License-Identifier: Apache-2.0
// Leagues of teams on the host (OpenMP 5.2, section 10.2).
#pragma once

#include "openmp/record/team.h"

namespace weft::openmp {

// Runs `invoke(words, 0)` for each of `teams` initial threads, each in a contention group of its own; side by side, as
// far as there are CPUs. 0 stands for what the variables say, by default one team, which has all threads. A thread
// limit of 0 likewise.
void run_league(Invoke invoke, void** words, int teams, int thread_limit) noexcept;

// Runs it once, as one initial thread: a league of one team, or a target region. `thread_limit`: 0 for none.
void run_initial_team(Invoke invoke, void** words, int thread_limit) noexcept;

// nteams-var and teams-thread-limit-var; 0: none. Thread-safe.
int league_size() noexcept;
void set_league_size(int teams) noexcept;
int league_thread_limit() noexcept;
void set_league_thread_limit(int threads) noexcept;

}  // namespace weft::openmp
