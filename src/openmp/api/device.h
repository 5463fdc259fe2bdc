// SPDX-License-Identifier: Apache-2.0
// Devices (OpenMP 5.2, sections 13 and 18.7). There is one, the host: target regions run where they stand, and mapping
// copies nothing.
#pragma once

#include <cstdint>

#include "openmp/record/team.h"

namespace weft::openmp {

inline constexpr int kHost = 0;  // omp_get_initial_device, and how many other devices there are
inline constexpr int kInitialDevice = -1;
inline constexpr int kInvalidDevice = -4;

// default-device-var of the process, as it fits into Icvs: no number beyond is a device either.
int16_t initial_default_device() noexcept;
int16_t as_default_device(int device) noexcept;

// Whether the number is the host's. Where it must be a device (OMP_TARGET_OFFLOAD=mandatory, or omp_invalid_device) and
// is none, the process ends with a message.
bool is_host(int device) noexcept;

// Inside a target region: begins its league of `teams` teams, which the program runs one after the other; 0 for
// unsaid.
void begin_league_in_turn(int teams, int thread_limit) noexcept;
// Goes on to the next team; false when there is none.
bool next_team_in_turn() noexcept;

}  // namespace weft::openmp
