// SPDX-License-Identifier: Apache-2.0
#include "openmp/icv.h"

#include <algorithm>
#include <climits>

#include "base/options.h"
#include "core/scheduler.h"
#include "openmp/memory.h"
#include "openmp/startup.h"
#include "openmp/team_affinity.h"
#include "platform/cpus.h"

namespace weft::openmp {

namespace {

Icvs from_environment() noexcept {
  const base::Options& options = base::options();
  Icvs icvs;
  icvs.thread_limit = options.thread_limit;
  // Counted in any case: the CPUs are to be those of the process, not those a thread is bound to later.
  const int procs = num_procs();
  icvs.nthreads = options.num_threads.count > 0 ? options.num_threads.values[0] : procs;
  icvs.affinity = watches_affinity();
  icvs.dynamic = options.dynamic;
  icvs.run_schedule = options.run_schedule;
  icvs.allocator = initial_allocator();
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

int num_procs() noexcept {
  static const int procs = [] {
    const int wanted = base::options().num_cpus;
    return wanted > 0 ? wanted : platform::cpu_budget().usable;
  }();
  return procs;
}

const Icvs& initial_icvs() noexcept {
  static const Icvs icvs = from_environment();
  return icvs;
}

int nthreads_at(int level, int inherited) noexcept {
  const base::ThreadList& list = base::options().num_threads;
  if (list.count <= 1) return inherited;
  return list.values[std::min(level, list.count - 1)];
}

}  // namespace weft::openmp
