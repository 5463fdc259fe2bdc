// SPDX-License-Identifier: Apache-2.0
// A file of its own, since the machine that tests/scale simulates is not there yet when its library is loaded.
#include <cstdlib>

#include "base/message.h"
#include "base/options.h"
#include "core/api/budget.h"
#include "openmp/affinity/affinity.h"
#include "openmp/api/child_calls.h"
#include "openmp/api/display_env.h"
#include "openmp/api/id_calls.h"
#include "openmp/api/last_calls.h"
#include "openmp/api/thread_calls.h"
#include "openmp/api/thread_signals.h"
#include "openmp/process/cpu_use.h"
#include "openmp/region/region.h"
#include "openmp/settings/statistics.h"
#include "platform/libc_calls.h"
#include "platform/rseq.h"

namespace weft::openmp {

namespace {

void find_jobserver(const base::Options& options) noexcept {
  const core::JobserverFound found = core::find_jobserver(options.makeflags.value);
  if (found.usable || !found.named) return;
  base::warn(
      "WEFT_JOBSERVER=true: make keeps its tokens from this process; put a + before the line of the recipe, or use "
      "make 4.4");
}

// All at once: each time costs system calls.
void take_libc_calls(const base::Options& options) noexcept {
  const auto last = core::has_jobserver() ? last_calls() : platform::LibcCalls();
  if (options.adopt_libraries) {
    platform::take_libc_calls({thread_calls(), child_calls(), signal_calls(), id_calls(), last});
  } else if (!last.empty()) {
    platform::take_libc_calls({last});
  }
}

// When the library is loaded: what the user asked to see, and warnings about what cannot be used.
[[gnu::constructor(102)]] void on_load() {
  const base::Options& options = base::options();
  if (affinity_requested(options)) static_cast<void>(affinity());
  if (options.display_env != base::DisplayEnv::no) display_env(options.display_env == base::DisplayEnv::verbose);
  g_region_threads = options.region_threads;
  if (options.jobserver) find_jobserver(options);
  take_libc_calls(options);
  watch_forks();
  platform::withdraw_rseq();
  if (options.stats != base::Stats::off) {
    g_statistics_on = true;
    begin_cpu_use();
    std::atexit([] { print_statistics(); });
  }
}

}  // namespace

}  // namespace weft::openmp
