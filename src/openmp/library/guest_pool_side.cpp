// SPDX-License-Identifier: Apache-2.0
// The runtime's end of the link to the library through which oneTBB asks for CPUs (src/tcm).
#include "core/api/budget.h"

#include "base/options.h"
#include "openmp/abi/abi.h"
#include "openmp/settings/icv.h"
#include "openmp/settings/startup.h"

using namespace weft;

namespace {

constexpr core::PoolSide kSide{
    .layout = core::kGuestLayout,
    .start =
        [] {
          // The pool's monitor is what stands for the process on the node.
          if (base::options().node || core::has_jobserver()) openmp::start_runtime();
        },
    .cpus = [] { return core::started() ? core::cpus_for_all() : openmp::num_procs(); },
    .welcome = [] { return base::options().adopt_libraries && base::options().tcm_enable; },
    .statistics = [] { return base::options().stats != base::Stats::off; },
    .roots_at_work = core::roots_at_work,
    .load = core::guest_load,
    .hold = core::hold_for_guests,
    .forget = core::forget_guests,
    .set_part = core::set_guest_part,
};

// Behind the other constructors, which read the settings.
[[gnu::constructor(103)]] void on_load() {
  core::set_guest_side(core::link<core::GuestSide>(core::kGuestLink, &kSide));
}

}  // namespace

WEFT_ABI(const void*, weft_pool_link)(const void* guests) {
  const auto* side = core::checked<core::GuestSide>(guests);
  if (side == nullptr) return nullptr;
  core::set_guest_side(side);
  return &kSide;
}
