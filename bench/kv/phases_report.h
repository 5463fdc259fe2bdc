// SPDX-License-Identifier: Apache-2.0
// What a phase counter has seen, as JSON: mean, p50 and p99 of each phase, in ticks and nanoseconds.
#pragma once

#include <cstdio>
#include <string>

#include "weft/phase_counter.h"

namespace bench {

// Nothing where the phase was not seen.
inline void print_phase(const char* name, const weft_phase_counter& counter, const weft_phase_histogram& phase) {
  if (phase.count == 0) return;
  const double ticks[] = {weft_phase_mean(&counter, &phase), weft_phase_quantile(&counter, &phase, 0.5),
                          weft_phase_quantile(&counter, &phase, 0.99)};
  const double ns = weft_phase_ns_per_tick(&counter);
  std::printf(",\"%s\":{\"ticks\":[%.1f,%.1f,%.1f],\"ns\":[%.1f,%.1f,%.1f]}", name, ticks[0], ticks[1], ticks[2],
              ns * ticks[0], ns * ticks[1], ns * ticks[2]);
}

inline void print_phases(const weft_phase_counter& counter) {
  for (int k = 1; k < counter.points; ++k) {
    const std::string name = "P" + std::to_string(k + 1) + "-P" + std::to_string(k);
    print_phase(name.c_str(), counter, counter.phases[k - 1]);
  }
}

}  // namespace bench
