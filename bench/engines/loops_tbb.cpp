// SPDX-License-Identifier: Apache-2.0
// The loops of loops.c as one writes them for oneTBB by hand.
#include <tbb/parallel_for.h>

extern "C" {
#include "common/measure.h"
}
#include "engines/nests.h"

namespace {

void flat(int steps) {
  tbb::parallel_for(0, static_cast<int>(FLAT), [=](int) { iterate(steps); });
}

void nest(int steps) {
  tbb::parallel_for(0, static_cast<int>(ROWS), [=](int) {
    tbb::parallel_for(0, static_cast<int>(COLUMNS), [=](int) { iterate(steps); });
  });
}

void triangle(int steps) {
  tbb::parallel_for(0, static_cast<int>(TRIANGLE), [=](int i) {
    tbb::parallel_for(0, i + 1, [=](int) { iterate(steps); });
  });
}

template <void (*loops)(int)>
double run(const measurement* self, long count) {
  const double start = now();
  for (long i = 0; i < count; i++) loops(self->a);
  return now() - start;
}

constexpr measurement of(const char* name, double (*run)(const measurement*, long), int steps) {
  return {name, run, steps, 0, nullptr, nullptr};
}

}  // namespace

int main(int argument_count, char** arguments) {
  static constexpr measurement kMeasurements[] = {of("flat64_short", run<flat>, SHORT),
                                                  of("flat64_long", run<flat>, LONG),
                                                  of("nest8x64_short", run<nest>, SHORT),
                                                  of("nest8x64_long", run<nest>, LONG),
                                                  of("triangle64_short", run<triangle>, SHORT),
                                                  {}};
  return measure_family(argument_count, arguments, "engine_loops_tbb", kMeasurements);
}
