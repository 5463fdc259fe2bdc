// SPDX-License-Identifier: Apache-2.0
#include "coll/group/calibrate.h"

#include <algorithm>
#include <cstring>

#include "coll/group/memory.h"
#include "platform/cycles.h"

namespace weft::coll {

namespace {

constexpr int kRounds = 4;  // the fastest counts: the first ones meet pages that are not mapped yet
constexpr int kPings = 3;  // per round
// No line is used twice. One buffer serves all rounds, so that its pages are mapped after the first round. Rank 0
// writes it again only after the next ping, which says that rank 1 has read it.
constexpr uint64_t kBuffer = 1;
constexpr uint64_t kSteps = kRounds * (2 * kPings + 1);
static_assert(kSteps < kLines);

// The limits of what a machine may take; beyond them another process had the CPU meanwhile.
constexpr Speed kFastest{.notify_ns = 20, .copy_ns_per_byte = 0.02};
constexpr Speed kSlowest{.notify_ns = 2000, .copy_ns_per_byte = 2};

void answer(Group& group) noexcept {
  char* page = group.own_buffer(kBuffer);
  for (int round = 0; round < kRounds; ++round) {
    for (int ping = 0; ping < kPings; ++ping) {
      group.await_line(1, group.next_step());
      group.publish(group.next_step());
    }
    std::memset(page, round + 1, page_bytes());
    group.publish(group.next_step());
  }
}

Speed measure(Group& group) noexcept {
  Speed least = kSlowest;
  const size_t bytes = page_bytes();
  char* copy = group.scratch(bytes);
  for (int round = 0; round < kRounds; ++round) {
    const int64_t begin = platform::now_ns();
    for (int ping = 0; ping < kPings; ++ping) {
      group.publish(group.next_step());
      group.await_line(0, group.next_step());
    }
    const auto notify_ns = static_cast<double>(platform::now_ns() - begin) / (2 * kPings);
    group.await_line(0, group.next_step());
    const int64_t found = platform::now_ns();
    std::memcpy(copy, group.buffer(0, kBuffer), bytes);
    const auto copy_ns = static_cast<double>(platform::now_ns() - found);
    least.notify_ns = std::min(least.notify_ns, notify_ns);
    least.copy_ns_per_byte = std::min(least.copy_ns_per_byte, copy_ns / static_cast<double>(bytes));
  }
  least.notify_ns = std::max(least.notify_ns, kFastest.notify_ns);
  least.copy_ns_per_byte = std::max(least.copy_ns_per_byte, kFastest.copy_ns_per_byte);
  return least;
}

}  // namespace

Speed measure_speed(Group& group) noexcept {
  Speed speed;
  if (group.rank() == 1) {
    speed = measure(group);
  } else if (group.rank() == 0) {
    answer(group);
  } else {
    for (uint64_t step = 0; step < kSteps; ++step) group.next_step();
    group.done(kSteps);
  }
  const uint64_t result = group.next_step();
  static_assert(sizeof speed <= Line::kData);
  if (group.rank() == 1) {
    std::memcpy(group.own_line(result), &speed, sizeof speed);
    group.publish(result);
  } else {
    std::memcpy(&speed, group.await_line(1, result), sizeof speed);
  }
  group.done(result);
  return speed;
}

}  // namespace weft::coll
