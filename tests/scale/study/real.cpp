// SPDX-License-Identifier: Apache-2.0
// A construct on this machine, under the runtime that the loader finds: what the simulation is compared with. Prints
// the median of the times in microseconds.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "study/constructs.h"

int main(int count, char** arguments) {
  if (count != 4) {
    std::fprintf(stderr, "scale_real CONSTRUCT THREADS REPETITIONS\n");
    return 2;
  }
  for (const auto& construct : weft::scale::constructs()) {
    if (std::strcmp(construct.name, arguments[1]) != 0) continue;
    auto times = construct.run(std::atoi(arguments[2]), std::atoi(arguments[3])).times;
    std::sort(times.begin(), times.end());
    std::printf("%.3f\n",
                static_cast<double>(times[times.size() / 2]) / static_cast<double>(weft::scale::kMicrosecond));
    return 0;
  }
  std::fprintf(stderr, "scale: no construct is called %s\n", arguments[1]);
  return 2;
}
