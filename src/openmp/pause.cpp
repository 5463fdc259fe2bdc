// SPDX-License-Identifier: Apache-2.0
#include "openmp/pause.h"

#include <ctime>

#include "core/crew.h"
#include "core/scheduler.h"
#include "openmp/parallel.h"
#include "openmp/root.h"
#include "platform/generation.h"

namespace weft::openmp {

namespace {

// Members that still look for their next region will be asleep in a moment.
void trim_crew(core::Crew* crew) noexcept {
  constexpr int kTries = 20;
  for (int i = 0; crew->trim() > 0 && i < kTries; ++i) {
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
  const bool own_crew =
      root != nullptr && root->has_crew && root->crew != nullptr && root->generation == platform::generation();
  if (pause == Pause::hard) {
    if (own_crew) release_crew(root);
  } else if (own_crew) {
    trim_crew(root->crew);
  }
  core::relinquish(pause == Pause::hard);
  return 0;
}

}  // namespace weft::openmp
