// SPDX-License-Identifier: Apache-2.0
#include <ctime>

#include <sched.h>
#include <unistd.h>

#include "study/where.h"

namespace weft::scale {

Time now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec) * kNanosecond;
}

void compute(Time time) {
  if (time <= kNanosecond) return;
  const Time end = now() + time;
  while (now() < end) {
  }
}

void sleep(Time time) { usleep(static_cast<useconds_t>(time / kMicrosecond)); }
void begin_counting() {}

int current_node() {
  unsigned node = 0;
  getcpu(nullptr, &node);
  return static_cast<int>(node);
}

}  // namespace weft::scale
