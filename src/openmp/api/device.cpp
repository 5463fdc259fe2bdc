// SPDX-License-Identifier: Apache-2.0
#include "openmp/api/device.h"

#include <algorithm>
#include <cstdlib>

#include "base/message.h"
#include "base/options.h"
#include "openmp/region/league.h"
#include "openmp/settings/icv.h"

namespace weft::openmp {

namespace {

[[noreturn]] void leave() noexcept { std::exit(EXIT_FAILURE); }

bool is_mandatory() noexcept { return base::options().target_offload == base::TargetOffload::mandatory; }

}  // namespace

int16_t as_default_device(int device) noexcept {
  return static_cast<int16_t>(std::clamp<int>(device, INT16_MIN, INT16_MAX));
}

int16_t initial_default_device() noexcept {
  const int said = base::options().default_device;
  // A program that demands a device other than the host has none by default (OpenMP 5.2, 21.2.7).
  return said >= 0 ? as_default_device(said) : is_mandatory() ? kInvalidDevice : kHost;
}

bool is_host(int device) noexcept {
  if (device == kHost || device == kInitialDevice) return true;
  if (is_mandatory()) {
    base::warn(
        "OMP_TARGET_OFFLOAD=mandatory, and there is no device but the host: run the program without that "
        "setting, or with OMP_DEFAULT_DEVICE=0 to name the host");
    leave();
  }
  if (device == kInvalidDevice) {
    base::warn("a device construct or routine got omp_invalid_device");
    leave();
  }
  return false;
}

void begin_league_in_turn(int teams, int thread_limit) noexcept {
  Member* member = self();
  member->team->league.size = teams > 0 ? teams : std::max(league_size(), 1);
  member->team->league.number = 0;
  if (thread_limit <= 0) thread_limit = league_thread_limit();
  if (thread_limit > 0) set_thread_limit(own_icvs(member), thread_limit);
}

bool next_team_in_turn() noexcept {
  Team* team = self()->team;
  if (team->league.number + 1 >= team->league.size) return false;
  ++team->league.number;
  return true;
}

}  // namespace weft::openmp
