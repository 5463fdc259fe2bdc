// SPDX-License-Identifier: Apache-2.0
#include "openmp/settings/startup.h"

#include <algorithm>

#include "base/keep_errno.h"
#include "base/options.h"
#include "core/api/budget.h"
#include "core/api/fork.h"
#include "openmp/affinity/affinity.h"
#include "openmp/affinity/bound_threads.h"
#include "openmp/api/spin_wait.h"
#include "openmp/api/yield.h"
#include "openmp/record/layout.h"
#include "openmp/region/region.h"
#include "openmp/settings/icv.h"
#include "openmp/settings/tuning.h"
#include "openmp/team/progress.h"
#include "openmp/tool/lock_word.h"

namespace weft::openmp {

namespace {

core::Admission admission(base::Mode mode) noexcept {
  switch (mode) {
    case base::Mode::exclusive: return core::Admission::one;
    case base::Mode::counting: return core::Admission::fitting;
    default: return core::Admission::all;
  }
}

// Carriers that may run at once. Where threads are bound, more of them than CPUs in the places would only take turns.
int slots(const base::Options& options) noexcept {
  const int procs = num_procs();
  if (options.num_cpus > 0 || !affinity().on) return procs;
  return std::min(procs, useful_threads());
}

}  // namespace

core::Settings pool_settings() noexcept {
  const base::Options& options = base::options();
  core::Settings settings;
  settings.slots = slots(options);
  settings.admission = admission(options.mode);
  settings.cpus_of_worker = cpus_of_workers();
  settings.places = affinity().places.begin();
  settings.place_count = affinity().places.size();
  settings.spin_ns = spin_ns();
  settings.stack_size = stack_size();
  // What libc would ask the kernel of a thread that is not there, functions in the place of libc's answer
  // (on_load.cpp).
  settings.parked_threads =
      options.adopt_libraries || options.parked_threads >= 0 ? options.parked_threads : core::kAllParkedThreads;
  settings.identity_begins = hold_locks_as;
  settings.identity_ends = end_identity;
  settings.progress = progress_of;
  settings.inspection = {
      .allowed = options.inspect, .layout = kOpenmpLayout, .members = {g_member_offset, g_reported_member_offset}};
  if (options.node) {
    settings.node = {.on = true,
                     .weight = options.weight,
                     .mode = base::name_of(options.mode),
                     .cpus = affinity().on ? useful_cpus() : platform::thread_cpus()};
  }
  return settings;
}

void start_runtime() noexcept {
  if (core::started()) return;
  const base::KeepErrno keep;
  // By now the caller may have been bound.
  if (affinity().on) core::protect_workers(&affinity().process);
  core::start(pool_settings());
  if (affinity().on) look_up_nodes();
  offer_yield();
  offer_spin_waits();
}

}  // namespace weft::openmp
