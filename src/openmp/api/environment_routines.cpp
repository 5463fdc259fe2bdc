// SPDX-License-Identifier: Apache-2.0
// Timing, and the display of what the variables say (OpenMP 5.2, sections 18.10 and 18.15).
#include <ctime>

#include "openmp/api/display_env.h"
#include "openmp/api/fortran.h"

using namespace weft::openmp;

namespace {

double seconds(const timespec& time) noexcept {
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double wtime() noexcept {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return seconds(time);
}

double wtick() noexcept {
  timespec resolution;
  clock_getres(CLOCK_MONOTONIC, &resolution);
  return seconds(resolution);
}

void show_environment(int verbose) noexcept { display_env(verbose != 0); }

}  // namespace

WEFT_ROUTINE_GET(double, omp_get_wtime, wtime());
WEFT_ROUTINE_GET(double, omp_get_wtick, wtick());
WEFT_ROUTINE_SET_INT(omp_display_env, show_environment);
