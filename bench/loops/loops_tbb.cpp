// SPDX-License-Identifier: Apache-2.0
// The loops of loops.c as one writes them for oneTBB by hand.
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <functional>

extern "C" {
#include "common/measure.h"
}
#include "loops/nests.h"

namespace {

double flat(const measurement* self, long count) {
  const int steps = flat_steps(self->a);
  const double start = now();
  for (long k = 0; k < count; k++) tbb::parallel_for(0, int{flat_iterations}, [=](int) { work_steps(steps); });
  return now() - start;
}

double reduction(const measurement* self, long count) {
  const int steps = flat_steps(self->a);
  double sum = 0;
  const double start = now();
  for (long k = 0; k < count; k++) {
    const auto part = [=](const tbb::blocked_range<int>& range, double before) {
      for (int i = range.begin(); i < range.end(); i++) {
        work_steps(steps);
        before += i;
      }
      return before;
    };
    sum += tbb::parallel_reduce(tbb::blocked_range<int>(0, flat_iterations), 0.0, part, std::plus<>());
  }
  __asm__ volatile("" : : "x"(sum));
  return now() - start;
}

template <shape Shape>
double run_nest(const measurement* self, long count) {
  const nest shape{Shape, self->a, self->b};
  const double start = now();
  for (long k = 0; k < count; k++) {
    tbb::parallel_for(0, shape.outer, [&](int i) {
      tbb::parallel_for(0, inner_iterations(&shape, i), [](int) { work_steps(short_steps); });
    });
  }
  return now() - start;
}

constexpr measurement of(const char* name, double (*run)(const measurement*, long), int a, int b = 0) {
  return {name, run, a, b, nullptr, nullptr};
}

}  // namespace

int main(int argument_count, char** arguments) {
  static constexpr measurement kMeasurements[] = {of("flat_1", flat, 1),
                                                  of("flat_5", flat, 5),
                                                  of("flat_10", flat, 10),
                                                  of("flat_50", flat, 50),
                                                  of("flat_1000", flat, 1000),
                                                  of("reduction_10", reduction, 10),
                                                  of("8x8", run_nest<square>, 8, 8),
                                                  of("64x4", run_nest<square>, 64, 4),
                                                  of("8x64", run_nest<square>, 8, 64),
                                                  of("3x64", run_nest<square>, 3, 64),
                                                  of("triangle", run_nest<triangle>, 64),
                                                  of("power_law", run_nest<power_law>, 32, 1024),
                                                  {}};
  return measure_family(argument_count, arguments, "loops_tbb", kMeasurements);
}
