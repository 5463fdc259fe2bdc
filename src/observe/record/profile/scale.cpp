// SPDX-License-Identifier: Apache-2.0
#include "observe/record/profile/scale.h"

#include "platform/cycles.h"

namespace weft::observe {

double g_ns_per_tick = 1;
int64_t g_chunk_ticks = 0;

void measure_ticks() noexcept {
  constexpr int64_t kFor = 500'000;
  const int64_t began = platform::now_ns();
  const int64_t first = platform::ticks();
  int64_t now = began;
  while (now - began < kFor) now = platform::now_ns();
  const int64_t last = platform::ticks();
  if (last > first) g_ns_per_tick = static_cast<double>(now - began) / static_cast<double>(last - first);
}

}  // namespace weft::observe
