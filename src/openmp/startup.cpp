// SPDX-License-Identifier: Apache-2.0
#include "openmp/startup.h"

#include <algorithm>
#include <cstdlib>

#include <sys/resource.h>

#include "base/keep_errno.h"
#include "base/options.h"
#include "core/binding.h"
#include "openmp/affinity.h"
#include "openmp/display_env.h"
#include "openmp/icv.h"
#include "openmp/slots.h"
#include "openmp/statistics.h"

namespace weft::openmp {

namespace {

// How long a waiter spins (microseconds): the default covers the serial parts between regions of a loop
// that opens many; a passive waiter only bridges what a switch of context would cost; an active one stays.
constexpr long kSpinDefault = 1000;
constexpr long kSpinPassive = 4;
constexpr long kSpinActive = 50'000;

long spin_us(const base::Options& options) noexcept {
  if (options.spin_us >= 0) return options.spin_us;
  switch (options.wait_policy) {
    case base::WaitPolicy::active: return kSpinActive;
    case base::WaitPolicy::passive: return kSpinPassive;
    default: return kSpinDefault;
  }
}

// Without OMP_STACKSIZE a member's stack is what a thread's would be.
size_t stack_size(const base::Options& options) noexcept {
  constexpr size_t kDefault = 8u << 20;
  if (options.stack_size.bytes > 0) return static_cast<size_t>(options.stack_size.bytes);
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kDefault;
  return std::clamp(static_cast<size_t>(limit.rlim_cur), size_t{256} << 10, size_t{64} << 20);
}

// Carriers that may run at once. Where threads are bound, more of them than CPUs in the places would only take turns.
int slots(const base::Options& options) noexcept {
  const int procs = num_procs();
  if (options.num_cpus > 0 || !affinity().on) return procs;
  return std::min(procs, useful_slots());
}

}  // namespace

core::Settings pool_settings() noexcept {
  const base::Options& options = base::options();
  core::Settings settings;
  settings.slots = slots(options);
  settings.cpus_of_worker = cpus_of_workers();
  settings.spin_ns = spin_us(options) * 1000;
  settings.stack_size = stack_size(options);
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
}

namespace {

// When the library is loaded: what the user asked to see, and warnings about what cannot be used.
[[gnu::constructor(101)]] void on_load() {
  const base::Options& options = base::options();
  if (affinity_requested(options)) static_cast<void>(affinity());
  if (options.display_env != base::DisplayEnv::no) display_env(options.display_env == base::DisplayEnv::verbose);
  if (options.stats) {
    g_statistics_on = true;
    std::atexit([] { print_statistics(); });
  }
}

}  // namespace

}  // namespace weft::openmp
