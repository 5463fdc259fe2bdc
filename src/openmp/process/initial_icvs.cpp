// SPDX-License-Identifier: Apache-2.0
// What the environment says for the initial task of a thread, put together from all parts of OpenMP.
#include <climits>

#include "base/options.h"
#include "openmp/affinity/team_affinity.h"
#include "openmp/api/device.h"
#include "openmp/api/memory.h"
#include "openmp/settings/icv.h"

namespace weft::openmp {

namespace {

Icvs from_environment() noexcept {
  const base::Options& options = base::options();
  Icvs icvs;
  set_thread_limit(icvs, options.thread_limit);
  // Counted in any case: the CPUs are to be those of the process, not those a thread is bound to later.
  const int procs = num_procs();
  icvs.nthreads = options.num_threads.count > 0 ? options.num_threads.values[0] : procs;
  icvs.affinity = watches_affinity();
  icvs.dynamic = options.dynamic;
  icvs.run_schedule = options.run_schedule;
  icvs.allocator = initial_allocator();
  icvs.default_device = initial_default_device();
  // Nesting is on unless the user has said otherwise: here it costs nothing.
  icvs.max_active_levels = INT_MAX;
  if (options.max_active_levels >= 0) {
    icvs.max_active_levels = options.max_active_levels;
  } else if (options.nested == base::TriState::no) {
    icvs.max_active_levels = 1;
  }
  return icvs;
}

}  // namespace

const Icvs& initial_icvs() noexcept {
  static const Icvs icvs = from_environment();
  return icvs;
}

}  // namespace weft::openmp
