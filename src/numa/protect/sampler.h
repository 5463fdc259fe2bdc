// SPDX-License-Identifier: Apache-2.0
// Which pages are protected when.
#pragma once

#include "numa/record/layout.h"

namespace weft::numa {

// Protects up to `most` pages of the array, a random one of each of equal parts. The lock of the arrays is held.
void guard_some(int index, int most, bool first) noexcept;

// Whether there is time left for protecting pages. On a machine that is slow, or busy, a few touches are seen for some
// more time.
bool may_sample() noexcept;

void prepare_sampler(const Settings& settings) noexcept;

// Starts the thread that samples, once. Without the lock, and outside of the program's allocator.
void start_sampler() noexcept;

// Ends it for good, and returns when it is gone: nothing is sampled any more, for this reason.
void stop_sampler(Stop why) noexcept;

// Why no page of this process must be protected at all.
Stop reason_not_to_sample() noexcept;

}  // namespace weft::numa
