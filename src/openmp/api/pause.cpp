// SPDX-License-Identifier: Apache-2.0
#include "openmp/api/pause.h"

#include <ctime>

#include "core/api/budget.h"
#include "core/api/fork.h"
#include "core/api/records.h"
#include "openmp/region/region.h"
#include "openmp/team/root.h"
#include "platform/generation.h"

namespace weft::openmp {

namespace {

// Members that still look for their next region will be asleep in a moment.
void trim_persistent_team(core::PersistentTeam* persistent_team) noexcept {
  constexpr int kTries = 20;
  for (int i = 0; persistent_team->trim() > 0 && i < kTries; ++i) {
    const timespec millisecond{0, 1'000'000};
    nanosleep(&millisecond, nullptr);
  }
}

}  // namespace

int pause_resources(Pause pause) noexcept {
  if (pause != Pause::soft && pause != Pause::hard) return -1;
  // A thread that has not used OpenMP has nothing of its own to give back.
  const Member* member = current_member();
  Root* root = member != nullptr ? member->team->root : nullptr;
  if (member != nullptr && (root == nullptr || member->task != &root->initial.implicit)) return -1;
  if (!core::started()) return 0;
  const bool own_persistent_team = root != nullptr && root->has_persistent_team && root->persistent_team != nullptr &&
                                   root->generation == platform::generation();
  if (pause == Pause::hard) {
    if (own_persistent_team) release_persistent_team(root);
  } else if (own_persistent_team) {
    trim_persistent_team(root->persistent_team);
  }
  core::release_idle(pause == Pause::hard);
  return 0;
}

}  // namespace weft::openmp
